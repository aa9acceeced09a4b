// A mask as a PNG picture, without a library: its data is stored, not compressed.
#include "pictures/mask_picture.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sdpa {
namespace {

constexpr std::int64_t kLongSideOfImage = 480;
constexpr std::size_t kMostStored = 65535;  // bytes of a stored block of deflate
// The colors of the SVG picture: hidden, visible, the query.
constexpr unsigned char kPalette[] = {0xd8, 0xde, 0xe4, 0x09, 0x69, 0xda, 0xcf, 0x22, 0x2e};

std::string big_endian(std::uint32_t number) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
    return bytes;
}

std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (char const byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

std::uint32_t adler32(std::string_view bytes) {
    std::uint32_t low = 1, high = 0;
    for (char const byte : bytes) {
        low = (low + static_cast<unsigned char>(byte)) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

std::string chunk(std::string const& type, std::string const& data) {
    return big_endian(static_cast<std::uint32_t>(data.size())) + type + data + big_endian(crc32(type + data));
}

// The zlib format with stored blocks.
std::string stored(std::string const& bytes) {
    std::string result = "\x78\x01";
    for (std::size_t at = 0; at < bytes.size(); at += kMostStored) {
        std::size_t const count = std::min(kMostStored, bytes.size() - at);
        result += at + count == bytes.size() ? '\1' : '\0';
        for (std::size_t const number : {count, ~count}) {
            result += static_cast<char>(number & 0xff);
            result += static_cast<char>(number >> 8 & 0xff);
        }
        result.append(bytes, at, count);
    }
    return result + big_endian(adler32(bytes));
}

}  // namespace

std::string to_png(Mask_picture const& picture) {
    Pixels const size = pixels_of(picture, kLongSideOfImage);
    std::size_t const rows = picture.visible.size(), columns = picture.visible.front().size();
    std::string lines;
    for (std::int64_t y = 0; y < size.height; ++y) {
        std::size_t const row = static_cast<std::size_t>(y) * rows / static_cast<std::size_t>(size.height);
        lines += '\0';  // the line is not filtered
        for (std::int64_t x = 0; x < size.width; ++x) {
            std::size_t const column = static_cast<std::size_t>(x) * columns / static_cast<std::size_t>(size.width);
            bool const is_query = picture.query && *picture.query == std::pair(row, column);
            lines += is_query ? '\2' : picture.visible[row][column] ? '\1' : '\0';
        }
    }
    std::string const header = big_endian(static_cast<std::uint32_t>(size.width)) +
                               big_endian(static_cast<std::uint32_t>(size.height)) +
                               std::string("\x08\x03\x00\x00\x00", 5);  // 8 bits for a pixel, which index the palette
    std::string const palette(reinterpret_cast<char const*>(kPalette), sizeof kPalette);
    return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("PLTE", palette) +
           chunk("tEXt", std::string("Title") + '\0' + picture.caption) + chunk("IDAT", stored(lines)) +
           chunk("IEND", "");
}

}  // namespace sdpa
