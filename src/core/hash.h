// The hash of Fowler, Noll and Vo (FNV-1a): the same in every process, for names of files and to find damage.
#pragma once

#include <cstdint>
#include <string_view>

namespace cudnn_frontend::core {

inline constexpr std::uint64_t kHashStart = 0xcbf29ce484222325u;

inline std::uint64_t hash_of_bytes(std::string_view bytes, std::uint64_t hash = kHashStart) {
    for (char const byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    return hash;
}

}  // namespace cudnn_frontend::core
