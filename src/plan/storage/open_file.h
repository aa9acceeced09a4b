// Files by their descriptors: the file whose owner was checked is the file that is read.
#pragma once

#include "core/findings.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

namespace cudnn_frontend::plan {

class OpenFile {
   public:
    // Each is not open where that fails.
    static OpenFile for_reading(std::filesystem::path const& path);
    // A file that was not there, and that nobody else may write.
    static OpenFile create(std::filesystem::path const& path);
    OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    OpenFile(OpenFile const&) = delete;
    OpenFile& operator=(OpenFile const&) = delete;
    ~OpenFile();

    bool is_open() const { return descriptor_ >= 0; }
    std::uint64_t size() const;
    // Whether all bytes were read or written.
    bool read(void* to, std::uint64_t count) const;
    bool write(std::string_view bytes) const;
    // Whether writing and closing succeeded.
    bool close();

    // An error at the place unless its content can be trusted as code: only this user and root can have written it.
    error_t check_trust(std::string const& place) const;

   private:
    explicit OpenFile(int descriptor) : descriptor_(descriptor) {}

    int descriptor_;
};

}  // namespace cudnn_frontend::plan
