// Fused forward: each block of queries goes through the keys that their windows span, with an online softmax.
#include "cpu/neighborhood/neighborhood_pairs.h"
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
        : pairs(run, arena),
          q(arena.take<float>(run.width(), run.lanes())),
          o(arena.take<float>(pairs.rows_of_output(), run.lanes())),
          k(arena.take<float>(run.width(), kTileKeys)),
          v(arena.take<float>(kTileKeys, run.row_padded(run.width()))),
          scores(arena.take<float>(kTileKeys, run.lanes())),
          seen(arena.take<LaneMask>(division.greatest_extents(), 1)),
          lanes(run.lanes()) {}

    std::int64_t output_size() const { return pairs.rows_of_output() * lanes; }

    NeighborhoodPairs pairs;
    float *q, *o;  // width x lanes
    float *k, *v;  // width x keys, keys x width
    float* scores;
    LaneMask* seen;
    std::int64_t lanes;
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
    if (task.scratch.pairs) return task.scratch.pairs.load_queries(task.queries());
    std::int64_t const elements = task.run.width() * task.run.lanes();
    load_columns(task.problem()[Q], task.queries(), task.run.width(), task.scratch.q, task.run.lanes());
    for (std::int64_t i = 0; i < elements; ++i) task.scratch.q[i] *= task.problem().scale;
}

void finish_scores(OutputTask const& task, VisibleKeys const& tile) {
    std::int64_t const lanes = task.run.lanes();
    TokenView const& bias = task.problem()[RelPosBias];
    if (bias) add_pairs(bias, distance_offsets(bias, task.block, task.lanes), tile, lanes, task.scratch.scores);
    fill_unseen(tile, lanes, -kInfinity, task.scratch.scores);
}

// Processes the panel against one tile of keys, with products of pairs. A careful step has the same bits, so that only
// sums with infinity and NaN change.
void attend_by_pairs(OutputTask& task, Tokens const& keys, VisibleKeys const& tile, bool is_careful) {
    NeighborhoodRun const& run = task.run;
    OutputScratch const& scratch = task.scratch;
    bool const scales_later = task.problem().scale > 0.0f && !task.problem()[RelPosBias];
    float const scale = task.problem().scale;
    scratch.pairs.load_keys(keys, is_careful);
    scratch.pairs.multiply_by_keys(keys.count, scales_later ? 1.0f : scale, scratch.scores);
    finish_scores(task, tile);
    std::array<float, kMaxLanes> rescale;
    scratch.pairs.take_softmax_step(scratch.scores, keys.count, scales_later ? scale : 1.0f, task.max.data(),
                                    task.sum.data(), rescale.data());
    scratch.pairs.multiply_by_values(keys.count, rescale.data(), scratch.o);
    if (!is_careful) return;
    std::int64_t const stride = run.row_padded(run.width());
    load_rows(task.problem()[V], keys, run.width(), scratch.v, stride);
    scratch.pairs.unpack_weights(keys.count, scratch.scores);
    add_not_finite({scratch.v, stride, keys.count, run.width()}, scratch.scores, run.lanes(), scratch.o);
}

// Processes the panel against one tile of keys.
void attend(OutputTask& task, Tokens const& keys, VisibleKeys const& tile, bool is_careful) {
    NeighborhoodRun const& run = task.run;
    OutputScratch const& scratch = task.scratch;
    if (scratch.pairs) return attend_by_pairs(task, keys, tile, is_careful);
    std::int64_t const stride = run.row_padded(run.width()), lanes = run.lanes();
    load_columns(task.problem()[K], keys, run.width(), scratch.k, kTileKeys);
    load_rows(task.problem()[V], keys, run.width(), scratch.v, stride);
    multiply_columns(run, scratch.k, scratch.q, keys.count, scratch.scores);
    finish_scores(task, tile);
    std::array<float, kMaxLanes> rescale;
    run.kernels.softmax_step(scratch.scores, keys.count, task.max.data(), task.sum.data(), rescale.data());
    run.kernels.rescale_and_multiply(
        {scratch.v, stride, scratch.scores, lanes, scratch.o, lanes, stride, lanes, keys.count, is_careful},
        rescale.data());
}

void attend_to_keys(OutputTask& task, bool is_careful) {
    task.max.fill(-kInfinity);
    task.sum.fill(0.0f);
    std::fill_n(task.scratch.o, task.scratch.output_size(), 0.0f);
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
    PairScope const scope(task.scratch.pairs.kernels());
    load_queries(task);
    attend_to_keys(task, false);
    if (run.kernels.holds_nan(task.scratch.o, task.scratch.output_size())) attend_to_keys(task, true);
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
