// A value's elements in host memory, for the interpreter: up to eight dims, read and written by rows as double.
#pragma once

#include "ir/op_graph.h"

#include <array>
#include <cstdint>

namespace cudnn_frontend::cpu {

using Extents = std::array<std::int64_t, core::kMaxRank>;

struct Tensor {
    void* data = nullptr;
    DataType_t type = DataType_t::FLOAT;
    std::size_t rank = 0;
    Extents dim{};
    Extents stride{};
    bool is_tiled = false;  // in the order F8_128x4; strides then mean nothing
};

Tensor make_tensor(ir::Value const& value, DataType_t type, void* data);

// Strides that broadcast the tensor to the dims of `shape`: 0 along broadcast dims. Dims are aligned at the last.
Extents broadcast_strides(Tensor const& tensor, Tensor const& shape);

// The size of the buffer of doubles through which elements go.
inline constexpr std::int64_t kChunk = 256;

// `count` elements from index `offset` on, `stride` apart.
void load_row(Tensor const& tensor, std::int64_t offset, std::int64_t stride, std::int64_t count, double* row);
void store_row(Tensor const& tensor, std::int64_t offset, std::int64_t stride, std::int64_t count, double const* row);

// Iterates over all indices of a box in row-major order and maintains the offset under each of N lists of strides.
template <std::size_t N>
class Walk {
   public:
    Walk(std::size_t rank, Extents const& dim, std::array<Extents, N> const& strides)
        : rank_(rank), dim_(dim), strides_(strides) {}

    Extents const& index() const { return index_; }
    std::int64_t offset(std::size_t list) const { return offset_[list]; }

    // Goes to the next index; returns false after the last one.
    bool next() {
        for (std::size_t d = rank_; d-- > 0;) {
            bool const wraps = ++index_[d] == dim_[d];
            std::int64_t const steps = wraps ? 1 - dim_[d] : 1;
            for (std::size_t list = 0; list < N; ++list) offset_[list] += steps * strides_[list][d];
            if (!wraps) return true;
            index_[d] = 0;
        }
        return false;
    }

   private:
    std::size_t rank_;
    Extents dim_;
    std::array<Extents, N> strides_;
    Extents index_{};
    std::array<std::int64_t, N> offset_{};
};

}  // namespace cudnn_frontend::cpu
