// Bytes that are written and read back in order: numbers and strings, each string with its length in front. Reading
// bytes that were cut or changed is an error, never more than that.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace cudnn_frontend::plan {

class BlobWriter {
   public:
    void number(std::int64_t value);
    void text(std::string_view value);
    std::string take() { return std::move(bytes_); }

   private:
    std::string bytes_;
};

// The first fault is kept; from then on numbers are 0 and strings are empty.
class BlobReader {
   public:
    explicit BlobReader(std::string_view bytes) : rest_(bytes) {}

    std::int64_t number();
    std::string_view text();
    // A number of things, each of which takes at least that many bytes.
    std::size_t count(std::size_t smallest_bytes);
    // Whether all was read, and nothing too much.
    bool is_done() const { return is_good_ && rest_.empty(); }
    bool is_good() const { return is_good_; }

   private:
    std::string_view rest_;
    bool is_good_ = true;
};

// A 64-bit FNV-1a hash: it notices every changed byte.
std::uint64_t checksum(std::string_view bytes);

}  // namespace cudnn_frontend::plan
