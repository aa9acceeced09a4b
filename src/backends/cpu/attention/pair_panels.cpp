#include "cpu/attention/pair_panels.h"

#include <algorithm>

namespace cudnn_frontend::cpu {

std::int64_t PanelCopies::memory_of(Kernels const& kernels, TileSizes const& tile, std::int64_t width) {
    return kernels.lanes * std::max(tile.padded_rows(width), tile.pairs_of(width));
}

void PanelCopies::load_pairs(Slice const& from, std::int64_t queries, std::int64_t width, std::uint32_t* panel) const {
    std::int64_t const lanes = kernels.lanes, depth = tile.pairs_of(width), filled = (width + 1) / 2;
    if (transposes(depth)) {
        auto* const pairs_in_rows = reinterpret_cast<std::uint32_t*>(rows);
        load_pairs_in_rows(from, {pairs_in_rows, depth, queries, width}, lanes);
        pairs->transpose({pairs_in_rows, depth, lanes, depth, panel, lanes});
        return;
    }
    load_pairs_of_columns(from, {panel, lanes, queries, width}, lanes);
    std::fill(panel + filled * lanes, panel + depth * lanes, 0);
}

void PanelCopies::store(float* panel, std::int64_t width, std::int64_t queries, Slice const& to) const {
    std::int64_t const lanes = kernels.lanes, padded = tile.padded_rows(width);
    if (!transposes(padded)) return store_tile({panel, lanes, width, queries}, transposed(to));
    // The elements are moved, whatever they are.
    pairs->transpose({reinterpret_cast<std::uint32_t const*>(panel), lanes, padded, lanes,
                      reinterpret_cast<std::uint32_t*>(rows), padded});
    store_tile({rows, padded, queries, width}, to);
}

}  // namespace cudnn_frontend::cpu
