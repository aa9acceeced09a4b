// Numbers and strings as bytes, written and read in order; a string is preceded by its length. Reading truncated or
// changed bytes gives an error and does no harm.
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

// After the first fault all numbers are 0 and all strings are empty.
class BlobReader {
   public:
    explicit BlobReader(std::string_view bytes) : rest_(bytes) {}

    std::int64_t number();
    std::string_view text();
    // The number of elements that follow, each of at least that many bytes.
    std::size_t count(std::size_t smallest_bytes);
    // Whether exactly all bytes were read.
    bool is_done() const { return is_good_ && rest_.empty(); }
    bool is_good() const { return is_good_; }

   private:
    std::string_view rest_;
    bool is_good_ = true;
};

// A 64-bit FNV-1a hash: any changed byte changes it.
std::uint64_t checksum(std::string_view bytes);

}  // namespace cudnn_frontend::plan
