#include "plan/storage/open_file.h"

#include "core/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdio>

namespace cudnn_frontend::plan {

using core::text;

// Without O_NONBLOCK, opening a pipe would wait for its writer; files do not change by it.
OpenFile OpenFile::for_reading(std::filesystem::path const& path) {
    return OpenFile(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

OpenFile OpenFile::create(std::filesystem::path const& path) {
    return OpenFile(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
}

OpenFile::~OpenFile() {
    if (is_open()) ::close(descriptor_);
}

std::uint64_t OpenFile::size() const {
    struct stat file {};
    return ::fstat(descriptor_, &file) == 0 ? static_cast<std::uint64_t>(file.st_size) : 0;
}

bool OpenFile::read(void* to, std::uint64_t count) const {
    char* next = static_cast<char*>(to);
    while (count > 0) {
        ssize_t const got = ::read(descriptor_, next, count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        next += got;
        count -= static_cast<std::uint64_t>(got);
    }
    return true;
}

bool OpenFile::write(std::string_view bytes) const {
    while (!bytes.empty()) {
        ssize_t const put = ::write(descriptor_, bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return true;
}

bool OpenFile::close() {
    bool const is_closed = is_open() && ::close(descriptor_) == 0;
    descriptor_ = -1;
    return is_closed;
}

error_t OpenFile::check_trust(std::string const& place) const {
    auto const fault = [&](std::string found, std::string needed, std::string fix) {
        return core::error_at(place, error_code_t::INVALID_VALUE, std::move(found), std::move(needed), std::move(fix));
    };
    struct stat file {};
    if (::fstat(descriptor_, &file) != 0) return fault("no owner", "this user or root", "remove it");
    if (!S_ISREG(file.st_mode)) return fault("no regular file", "a stored plan", "remove it");
    if (file.st_uid != ::geteuid() && file.st_uid != 0)
        return fault(text("the owner ", file.st_uid),
                     text("this user, ", ::geteuid(), ", or root, since a stored plan is code"),
                     "sdpa store FOLDER merge, to copy the plans that you trust");
    if ((file.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%03o", file.st_mode & 0777U);
    return fault(text("the mode ", mode.data(), ", with which other users can write it"),
                 "a file that its owner alone can write, since a stored plan is code", "chmod go-w");
}

}  // namespace cudnn_frontend::plan
