#include "plan/storage/blob.h"

#include "core/hash.h"

namespace cudnn_frontend::plan {

static constexpr std::size_t kNumberBytes = 8;

void BlobWriter::number(std::int64_t value) {
    auto const bits = static_cast<std::uint64_t>(value);
    char bytes[kNumberBytes];
    for (std::size_t i = 0; i < kNumberBytes; ++i) bytes[i] = static_cast<char>(bits >> (8 * i) & 0xff);
    bytes_.append(bytes, kNumberBytes);
}

void BlobWriter::text(std::string_view value) {
    number(static_cast<std::int64_t>(value.size()));
    bytes_ += value;
}

std::int64_t BlobReader::number() {
    if (rest_.size() < kNumberBytes) is_good_ = false;
    if (!is_good_) return 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < kNumberBytes; ++i)
        bits |= std::uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(kNumberBytes);
    return static_cast<std::int64_t>(bits);
}

std::string_view BlobReader::text() {
    auto const size = static_cast<std::uint64_t>(number());
    if (size > rest_.size()) is_good_ = false;
    if (!is_good_) return {};
    std::string_view const value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
}

std::size_t BlobReader::count(std::size_t smallest_bytes) {
    auto const count = static_cast<std::uint64_t>(number());
    if (count > rest_.size() / smallest_bytes) is_good_ = false;
    return is_good_ ? count : 0;
}

std::uint64_t checksum(std::string_view bytes) { return core::hash_of_bytes(bytes); }

}  // namespace cudnn_frontend::plan
