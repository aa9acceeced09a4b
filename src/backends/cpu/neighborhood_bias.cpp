// The gradient of a relative position bias: a head is one worker's, so that the order of its sums is one.
#include "cpu/neighborhood_passes.h"
#include "cpu/neighborhood_run.h"

#include "core/data_type.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

Box all_distances(NeighborhoodAxes const& axes) {
    return {{}, {2 * axes[0].kernel - 1, 2 * axes[1].kernel - 1, 2 * axes[2].kernel - 1}};
}

TokenView sums_view(NeighborhoodAxes const& axes) {
    Box const distances = all_distances(axes);
    return {nullptr, DataType_t::DOUBLE, 0, 0, {distances.extent(1) * distances.extent(2), distances.extent(2), 1}, 1};
}

struct Scratch {
    Scratch(NeighborhoodRun const& run, Division const& division, Arena& arena)
        : tile(arena.take<float>(kTileKeys, run.lanes())),
          sums(arena.take<double>(all_distances(run.problem.axes).count(), 1)),
          seen(arena.take<LaneMask>(division.greatest_extents(), 1)) {}

    float* tile;
    double* sums;
    LaneMask* seen;
};

// Adds a block's d_attn to the sums of its head.
void add_block(NeighborhoodRun const& run, Block const& block, Scratch const& scratch) {
    TokenView const& d_attn = run.problem.d_attn;
    Lanes const lanes = lanes_of(block.group, block.box, 0, run.lanes());
    PairOffsets const in_slots = slot_offsets(d_attn, block, lanes);
    PairOffsets const in_sums = distance_offsets(sums_view(run.problem.axes), block, lanes);
    Box const keys = block.group.keys_of(block.box);
    Visibility const visibility(block.group, lanes, keys, scratch.seen);
    for (std::int64_t key = 0; key < keys.count(); key += kTileKeys) {
        KeyTile const tile = key_tile(tile_of(block, keys, key), visibility);
        load_pairs(d_attn, in_slots, tile, run.lanes(), scratch.tile);
        for_each_pair(tile, [&](std::int64_t row, std::int64_t lane) {
            Place const& place = tile.places[static_cast<std::size_t>(row)];
            scratch.sums[in_sums.of(place, lane)] += double{scratch.tile[row * run.lanes() + lane]};
        });
    }
}

void store_sums(NeighborhoodProblem const& problem, std::int64_t h, double const* sums) {
    TokenView const& to = problem.d_bias;
    Box const distances = all_distances(problem.axes);
    for (std::int64_t index = 0; index < distances.count(); ++index) {
        Place const at = distances.at(index);
        std::int64_t const offset = h * to.head + at[0] * to.axes[0] + at[1] * to.axes[1] + at[2] * to.axes[2];
        core::store(to.type, to.data, offset, sums[index]);
    }
}

}  // namespace

std::int64_t bias_gradient_bytes(NeighborhoodProblem const& problem, int threads) {
    NeighborhoodRun const run(problem);
    std::int64_t const workers = std::min<std::int64_t>(std::max(threads, 1), problem.heads);
    return saturating_multiply(workers, scratch_bytes<Scratch>(run, run.blocks_of_queries()));
}

void sum_bias_gradient(NeighborhoodProblem const& problem, int threads, void* workspace) {
    NeighborhoodRun const run(problem);
    Division const division = run.blocks_of_queries();
    std::int64_t const bytes = scratch_bytes<Scratch>(run, division);
    core::parallel_for(threads, problem.heads, [&](int worker, std::int64_t h) {
        Arena arena(workspace, worker * bytes);
        Scratch const scratch(run, division, arena);
        std::fill_n(scratch.sums, all_distances(problem.axes).count(), 0.0);
        for (std::int64_t index = 0; index < division.blocks(); ++index) {
            Block const block = division.block(index);
            if (block.h == h && block.box.count() > 0) add_block(run, block, scratch);
        }
        store_sums(problem, h, scratch.sums);
    });
}

}  // namespace cudnn_frontend::cpu
