// Hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cudnn_frontend::core {

inline constexpr std::uint64_t kHashStart = 0xcbf29ce484222325u;

// The hash of Fowler, Noll and Vo (FNV-1a): the same in every process, for names of files and to find damage.
inline std::uint64_t hash_of_bytes(std::string_view bytes, std::uint64_t hash = kHashStart) {
    for (char const byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
    return hash;
}

// Makes a hash of shapes, for tables in memory, depend on one of their sizes.
inline void add_size(std::size_t& hash, std::int64_t size) { hash = hash * 1000003u ^ static_cast<std::size_t>(size); }

}  // namespace cudnn_frontend::core
