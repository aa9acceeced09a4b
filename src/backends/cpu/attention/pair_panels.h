// Panels, in which queries are the columns, copied from and to rows of memory.
#pragma once

#include "cpu/attention/attention_problem.h"
#include "cpu/attention/attention_tile.h"
#include "cpu/attention/kernels/attention_kernels.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// How panels of some kernels are copied.
struct PanelCopies {
    Kernels const& kernels;
    PairKernels const* pairs;
    TileSizes tile;
    float* rows;  // memory as large as memory_of() says

    // Whether the kernels transpose panels of so many rows.
    bool transposes(std::int64_t count) const { return pairs != nullptr && count % PairTranspose::kStep == 0; }
    // Numbers for panels of at most this width.
    static std::int64_t memory_of(Kernels const& kernels, TileSizes const& tile, std::int64_t width);

    // Rows of so many queries become pairs of columns; missing ones, and pairs up to the products' depth, become 0.
    void load_pairs(Slice const& from, std::int64_t queries, std::int64_t width, std::uint32_t* panel) const;
    // Stores the first queries of a panel, which has rows up to a multiple of the products'.
    void store(float* panel, std::int64_t width, std::int64_t queries, Slice const& to) const;
};

}  // namespace cudnn_frontend::cpu
