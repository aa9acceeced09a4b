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

std::string OpenFile::reason_to_distrust() const {
    struct stat file {};
    if (::fstat(descriptor_, &file) != 0) return "has no owner that can be found";
    if (!S_ISREG(file.st_mode)) return "is no regular file, expected a stored plan. Try: remove it";
    if (file.st_uid != ::geteuid() && file.st_uid != 0)
        return text(
            "belongs to user ", file.st_uid, ", expected this user, ", ::geteuid(),
            ", or root, since a stored plan is code. Try: sdpa store FOLDER merge, to copy the plans that you trust");
    if ((file.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%03o", file.st_mode & 0777U);
    return text("can be written by other users (mode ", mode.data(),
                "), expected its owner alone, since a stored plan is code. Try: chmod go-w");
}

}  // namespace cudnn_frontend::plan
