// How many bytes of the heap an object has, as an estimate: what it contains, and what an allocator adds to a piece.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cudnn_frontend::core {

inline constexpr std::size_t kBytesOfPiece = 16;

inline std::size_t heap_bytes(std::string const& text) {
    static std::size_t const inside = std::string().capacity();
    return text.capacity() > inside ? text.capacity() + kBytesOfPiece : 0;
}

// The bytes of a list, without those that its elements have on the heap.
template <class T>
std::size_t heap_bytes(std::vector<T> const& list) {
    return list.capacity() == 0 ? 0 : list.capacity() * sizeof(T) + kBytesOfPiece;
}

}  // namespace cudnn_frontend::core
