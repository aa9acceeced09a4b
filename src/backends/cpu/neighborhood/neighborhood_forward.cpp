// Fused forward: each block of queries goes through the keys that their windows span, with an online softmax.
#include "cpu/neighborhood/neighborhood_passes.h"
#include "cpu/neighborhood/neighborhood_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cudnn_frontend::cpu {

using enum neighborhood::Port;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct OutputScratch {
    OutputScratch(NeighborhoodRun const& run, Division const& division, Arena& arena)
        : q(arena.take<float>(run.width(), run.lanes())),
          o(arena.take<float>(run.row_padded(run.width()), run.lanes())),
          k(arena.take<float>(run.width(), kTileKeys)),
          v(arena.take<float>(kTileKeys, run.row_padded(run.width()))),
          scores(arena.take<float>(kTileKeys, run.lanes())),
          seen(arena.take<LaneMask>(division.greatest_extents(), 1)) {}

    float *q, *o;  // width x lanes
    float *k, *v;  // width x keys, keys x width
    float* scores;
    LaneMask* seen;
};

// A block of queries in the lanes of one panel.
struct OutputTask {
    NeighborhoodRun const& run;
    TokenBlock const& block;
    OutputScratch const& scratch;
    QueryLanes lanes = lanes_of(block.group, block.box, 0, run.lanes());
    std::array<float, kMaxLanes> max{}, sum{};

    NeighborhoodProblem const& problem() const { return run.problem; }
    Tokens queries() const { return {block, block.box, 0, lanes.count}; }
};

void load_queries(OutputTask const& task) {
    std::int64_t const elements = task.run.width() * task.run.lanes();
    load_columns(task.problem()[Q], task.queries(), task.run.width(), task.scratch.q, task.run.lanes());
    for (std::int64_t i = 0; i < elements; ++i) task.scratch.q[i] *= task.problem().scale;
}

// Processes the panel against one tile of keys.
void attend(OutputTask& task, Tokens const& keys, VisibleKeys const& tile, bool is_careful) {
    NeighborhoodRun const& run = task.run;
    OutputScratch const& scratch = task.scratch;
    std::int64_t const stride = run.row_padded(run.width()), lanes = run.lanes();
    load_columns(task.problem()[K], keys, run.width(), scratch.k, kTileKeys);
    load_rows(task.problem()[V], keys, run.width(), scratch.v, stride);
    multiply_columns(run, scratch.k, scratch.q, keys.count, scratch.scores);
    TokenView const& bias = task.problem()[RelPosBias];
    if (bias) add_pairs(bias, distance_offsets(bias, task.block, task.lanes), tile, lanes, scratch.scores);
    fill_unseen(tile, lanes, -kInfinity, scratch.scores);
    std::array<float, kMaxLanes> rescale;
    run.kernels.softmax_step(scratch.scores, keys.count, task.max.data(), task.sum.data(), rescale.data());
    run.kernels.rescale_and_multiply(
        {scratch.v, stride, scratch.scores, lanes, scratch.o, lanes, stride, lanes, keys.count, is_careful},
        rescale.data());
}

void attend_to_keys(OutputTask& task, bool is_careful) {
    task.max.fill(-kInfinity);
    task.sum.fill(0.0f);
    std::fill_n(task.scratch.o, task.run.row_padded(task.run.width()) * task.run.lanes(), 0.0f);
    Box const keys = task.block.group.keys_of(task.block.box);
    Visibility const visibility(task.block.group, task.lanes, keys, task.scratch.seen);
    for (std::int64_t key = 0; key < keys.count(); key += kTileKeys) {
        Tokens const tokens = tile_of(task.block, keys, key);
        VisibleKeys const tile = key_tile(tokens, visibility);
        if (tile.is_seen) attend(task, tokens, tile, is_careful);
    }
}

// Queries without visible keys, or only with keys of score -inf, get O = 0.
void store(OutputTask& task) {
    std::array<float, kMaxLanes> factors{}, stats;
    for (std::size_t lane = 0; lane < static_cast<std::size_t>(task.lanes.count); ++lane) {
        if (task.sum[lane] != 0.0f) factors[lane] = 1.0f / task.sum[lane];
        stats[lane] = task.max[lane] + std::log(task.sum[lane]);
    }
    task.run.kernels.scale_lanes(task.scratch.o, task.run.width(), factors.data());
    store_columns(task.scratch.o, task.run.lanes(), task.problem()[O], task.queries(), task.run.width());
    if (task.problem()[Stats]) store_columns(stats.data(), kMaxLanes, task.problem()[Stats], task.queries(), 1);
}

// NaN in O can come from 0 times infinity or NaN of a value that is not visible to the query. That is rare; only then
// is the block computed again, skipping zeros, which leaves all other sums as they are.
void run_block(OutputTask task) {
    NeighborhoodRun const& run = task.run;
    load_queries(task);
    attend_to_keys(task, false);
    if (run.kernels.holds_nan(task.scratch.o, run.row_padded(run.width()) * run.lanes())) attend_to_keys(task, true);
    store(task);
}

}  // namespace

std::int64_t forward_bytes(NeighborhoodProblem const& problem, int threads) {
    NeighborhoodRun const run(problem);
    return workers_bytes<OutputScratch>(run, run.blocks_of_queries(), threads);
}

void run_forward(NeighborhoodProblem const& problem, int threads, void* workspace) {
    NeighborhoodRun const run(problem);
    for_each_block<OutputScratch>(run, run.blocks_of_queries(), threads, workspace, 0,
                                  [&](TokenBlock const& block, OutputScratch const& scratch) {
                                      run_block({run, block, scratch});
                                  });
}

}  // namespace cudnn_frontend::cpu
