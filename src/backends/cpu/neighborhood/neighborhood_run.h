// Shared by the passes of neighborhood attention: kernels, strides of packed rows, and blocks over threads.
#pragma once

#include "core/threads.h"
#include "cpu/attention/attention_scratch.h"
#include "cpu/neighborhood/neighborhood_tiles.h"

#include <array>
#include <cstdint>

namespace cudnn_frontend::cpu {

struct NeighborhoodRun {
    explicit NeighborhoodRun(NeighborhoodProblem const& of) : problem(of), kernels(cpu::kernels()) {}

    NeighborhoodProblem const& problem;
    Kernels const& kernels;

    std::int64_t lanes() const { return kernels.lanes; }
    std::int64_t width() const { return problem.width; }
    // The padded counts of rows as the left operand of a product, and as its right one.
    std::int64_t row_padded(std::int64_t count) const { return round_up(count, kernels.row_step); }
    std::int64_t lane_padded(std::int64_t count) const { return round_up(count, kernels.lanes); }
    Division blocks_of_queries() const { return {problem, lanes()}; }
    Division blocks_of_keys() const { return {problem, kTileKeys}; }
};

// c (rows x lanes) += rows^T tile, for packed rows of the tile's keys.
inline void add_rows_times_tile(NeighborhoodRun const& run, float const* rows, float const* tile, std::int64_t keys,
                                bool is_careful, float* c) {
    static constexpr auto kOnes = [] {
        std::array<float, kMaxLanes> ones;
        ones.fill(1.0f);
        return ones;
    }();
    std::int64_t const lanes = run.lanes(), stride = run.row_padded(run.width());
    run.kernels.rescale_and_multiply({rows, stride, tile, lanes, c, lanes, stride, lanes, keys, is_careful},
                                     kOnes.data());
}

// c (keys x width) += tile rows, for packed rows of the panel's queries.
inline void add_tile_times_rows(NeighborhoodRun const& run, float const* tile, float const* rows, std::int64_t keys,
                                std::int64_t queries, bool is_careful, float* c) {
    std::int64_t const stride = run.lane_padded(run.width());
    run.kernels.multiply_tile({tile, 0, rows, stride, c, stride, run.row_padded(keys), stride, queries, is_careful});
}

// tile (keys x lanes) = columns^T panel.
inline void multiply_columns(NeighborhoodRun const& run, float const* columns, float const* panel, std::int64_t keys,
                             float* tile) {
    std::int64_t const lanes = run.lanes();
    run.kernels.multiply({columns, kTileKeys, panel, lanes, tile, lanes, run.row_padded(keys), lanes, run.width()});
}

// A worker's memory for one block, which Scratch(run, division, arena) allocates.
template <class Scratch>
std::int64_t scratch_bytes(NeighborhoodRun const& run, Division const& division) {
    Arena arena(nullptr, 0);
    Scratch(run, division, arena);
    return arena.used();
}

// The workspace of all workers from `first` on. Returns its end.
template <class Scratch>
std::int64_t workers_bytes(NeighborhoodRun const& run, Division const& division, int threads, std::int64_t first = 0) {
    std::int64_t const workers = std::min<std::int64_t>(std::max(threads, 1), division.blocks());
    return saturating_add(first, saturating_multiply(workers, scratch_bytes<Scratch>(run, division)));
}

// Calls task(block, scratch) for each block.
template <class Scratch, class Task>
void for_each_block(NeighborhoodRun const& run, Division const& division, int threads, void* workspace,
                    std::int64_t first, Task const& task) {
    std::int64_t const bytes = scratch_bytes<Scratch>(run, division);
    core::parallel_for(threads, division.blocks(), [&](int worker, std::int64_t index) {
        TokenBlock const block = division.block(index);
        if (block.box.count() == 0) return;
        Arena arena(workspace, first + worker * bytes);
        task(block, Scratch(run, division, arena));
    });
}

// Calls task(h, scratch, blocks) for each head, where blocks(visit) calls visit(block) for its blocks in order.
template <class Scratch, class Task>
void for_each_head(NeighborhoodRun const& run, Division const& division, int threads, void* workspace,
                   std::int64_t first, Task const& task) {
    std::int64_t const bytes = scratch_bytes<Scratch>(run, division), count = division.blocks_of_head();
    core::parallel_for(threads, run.problem.heads, [&](int worker, std::int64_t h) {
        Arena arena(workspace, first + worker * bytes);
        task(h, Scratch(run, division, arena), [&](auto const& visit) {
            for (std::int64_t b = 0; b < run.problem.batches; ++b) {
                for (std::int64_t index = 0; index < count; ++index) {
                    TokenBlock const block = division.block((b * run.problem.heads + h) * count + index);
                    if (block.box.count() > 0) visit(block);
                }
            }
        });
    });
}

// Sums over the pairs of a head that are at the same distance: the gradient of its relative position bias.

// All sums of a head belong to one worker, so that they have one order.
class DistanceSums {
   public:
    DistanceSums(NeighborhoodProblem const& problem, Arena& arena);

    void clear();
    void add(float const* tile, std::int64_t lanes, VisibleKeys const& keys, PairOffsets const& offsets);
    PairOffsets offsets_of(TokenBlock const& block, QueryLanes const& lanes) const;
    void store(std::int64_t h) const;

   private:
    NeighborhoodProblem const& problem_;
    Box distances_;
    double* sums_;
};

}  // namespace cudnn_frontend::cpu
