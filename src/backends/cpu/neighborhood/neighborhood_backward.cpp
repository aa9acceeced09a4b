// Fused backward: dQ by blocks of queries and the keys visible to them, then dK and dV by blocks of keys and the
// queries to which they are visible. So each sum has one worker and one order, and no result depends on the threads.
#include "cpu/neighborhood/neighborhood_pairs.h"
#include "cpu/neighborhood/neighborhood_passes.h"
#include "cpu/neighborhood/neighborhood_run.h"

#include <algorithm>

namespace cudnn_frontend::cpu {

using enum neighborhood::Port;

namespace {

// A row's sum of dO * O, for each token.
TokenView row_dots_view(NeighborhoodProblem const& problem, float* data) {
    std::int64_t const row = problem.axes[2].length, plane = row * problem.axes[1].length;
    std::int64_t const tokens = plane * problem.axes[0].length;
    return {data, DataType_t::FLOAT, tokens * problem.heads, tokens, {plane, row, 1}, 1};
}

float* take_row_dots(NeighborhoodProblem const& problem, Arena& arena) {
    std::int64_t tokens = problem.batches * problem.heads;
    for (neighborhood::Axis const& axis : problem.axes) tokens *= axis.length;
    return arena.take<float>(tokens, 1);
}

struct GradientScratch {
    GradientScratch(NeighborhoodRun const& run, Division const& division, Arena& arena)
        : pairs(run, pairs_of_backward(run.problem), arena),
          q_pairs(pairs.take_panel(arena)),
          d_o_pairs(pairs.take_panel(arena)),
          k_pairs(pairs.take_columns(arena)),
          v_pairs(pairs.take_columns(arena)),
          q(arena.take<float>(run.width(), run.lanes())),
          d_o(arena.take<float>(run.width(), run.lanes())),
          q_rows(arena.take<float>(run.lanes(), run.lane_padded(run.width()))),
          d_o_rows(arena.take<float>(run.lanes(), run.lane_padded(run.width()))),
          k(arena.take<float>(run.width(), kTileKeys)),
          v(arena.take<float>(run.width(), kTileKeys)),
          k_rows(arena.take<float>(kTileKeys, run.row_padded(run.width()))),
          scores(arena.take<float>(kTileKeys, run.lanes())),
          gradients(arena.take<float>(kTileKeys, run.lanes())),
          d_q(arena.take<float>(run.row_padded(run.width()), run.lanes())),
          d_k(arena.take<float>(kTileKeys, run.lane_padded(run.width()))),
          d_v(arena.take<float>(kTileKeys, run.lane_padded(run.width()))),
          seen(arena.take<LaneMask>(division.greatest_extents(), 1)),
          d_bias(run.problem, arena) {}

    // P and dS are products of pairs where all factors are BFLOAT16 numbers. The gradients are products of floats,
    // since P and dS have more digits.
    TokenPairs pairs;
    std::uint32_t *q_pairs, *d_o_pairs, *k_pairs, *v_pairs;
    float *q, *d_o;            // width x lanes
    float *q_rows, *d_o_rows;  // lanes x width
    float *k, *v;              // width x keys
    float* k_rows;             // keys x width
    float *scores, *gradients;
    float* d_q;        // width x lanes
    float *d_k, *d_v;  // keys x width
    LaneMask* seen;
    DistanceSums d_bias;
};

void scale(float* data, std::int64_t count, float factor) {
    for (std::int64_t i = 0; i < count; ++i) data[i] *= factor;
}

// Queries of a panel, with their stats and sums of dO * O.
struct QueryPanel {
    QueryLanes lanes;
    std::array<float, kMaxLanes> stats{}, row_dots{};
};

struct GradientTask {
    NeighborhoodRun const& run;
    TokenView const& row_dots;
    TokenBlock const& block;
    GradientScratch const& scratch;
    bool is_careful = false;  // pairs that the mask hides contribute nothing, even with NaN or infinity

    NeighborhoodProblem const& problem() const { return run.problem; }
};

// The products of a panel's queries with a tile's keys, and of dO with its values.
void multiply_by_keys(GradientTask const& task, std::int64_t keys) {
    GradientScratch const& scratch = task.scratch;
    if (scratch.pairs) {
        scratch.pairs.multiply(scratch.k_pairs, scratch.q_pairs, keys, task.problem().scale, scratch.scores);
        scratch.pairs.multiply(scratch.v_pairs, scratch.d_o_pairs, keys, 1.0f, scratch.gradients);
    } else {
        multiply_columns(task.run, scratch.k, scratch.q, keys, scratch.scores);
        multiply_columns(task.run, scratch.v, scratch.d_o, keys, scratch.gradients);
    }
}

// Replaces the scores of a tile by P, and the gradients by dS. Rows up to the next register block are cleared.
void differentiate_scores(GradientTask const& task, QueryPanel const& panel, VisibleKeys const& keys) {
    NeighborhoodRun const& run = task.run;
    GradientScratch const& scratch = task.scratch;
    std::int64_t const lanes = run.lanes();
    multiply_by_keys(task, keys.count);
    TokenView const& bias = task.problem()[RelPosBias];
    if (bias) add_pairs(bias, distance_offsets(bias, task.block, panel.lanes), keys, lanes, scratch.scores);
    fill_unseen(keys, lanes, -__builtin_inff(), scratch.scores);
    run.kernels.probabilities(scratch.scores, keys.count, panel.stats.data(), task.is_careful);
    run.kernels.score_gradients(scratch.scores, scratch.gradients, keys.count, {nullptr, 1.0f, panel.row_dots.data()});
    for (float* const tile : {scratch.scores, scratch.gradients})
        std::fill(tile + keys.count * lanes, tile + run.row_padded(keys.count) * lanes, 0.0f);
}

QueryPanel load_panel(GradientTask const& task, Tokens const& queries) {
    NeighborhoodProblem const& problem = task.problem();
    std::int64_t const lanes = task.run.lanes();
    QueryPanel panel{lanes_of(task.block.group, queries.box, queries.begin, lanes)};
    if (task.scratch.pairs) {
        task.scratch.pairs.load_panel(problem[Q], queries, task.scratch.q_pairs);
        task.scratch.pairs.load_panel(problem[DO], queries, task.scratch.d_o_pairs);
    } else {
        load_columns(problem[Q], queries, problem.width, task.scratch.q, lanes);
        scale(task.scratch.q, problem.width * lanes, problem.scale);
        load_columns(problem[DO], queries, problem.width, task.scratch.d_o, lanes);
    }
    load_columns(problem[Stats], queries, 1, panel.stats.data(), kMaxLanes);
    return panel;
}

void load_key_columns(GradientTask const& task, Tokens const& keys) {
    GradientScratch const& scratch = task.scratch;
    if (scratch.pairs) {
        scratch.pairs.load_columns(task.problem()[K], keys, scratch.k_pairs);
        scratch.pairs.load_columns(task.problem()[V], keys, scratch.v_pairs);
    } else {
        load_columns(task.problem()[K], keys, task.run.width(), scratch.k, kTileKeys);
        load_columns(task.problem()[V], keys, task.run.width(), scratch.v, kTileKeys);
    }
}

// O passes through the memory of dQ, which is not needed yet.
void find_row_dots(GradientTask const& task, Tokens const& queries, QueryPanel& panel) {
    std::int64_t const lanes = task.run.lanes();
    float* const o = task.scratch.d_q;
    load_columns(task.problem()[O], queries, task.run.width(), o, lanes);
    if (task.scratch.pairs) load_columns(task.problem()[DO], queries, task.run.width(), task.scratch.d_o, lanes);
    std::array<double, kMaxLanes> sums{};
    for (std::int64_t c = 0; c < task.run.width(); ++c) {
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            sums[static_cast<std::size_t>(lane)] +=
                double{task.scratch.d_o[c * lanes + lane]} * double{o[c * lanes + lane]};
    }
    std::transform(sums.begin(), sums.end(), panel.row_dots.begin(),
                   [](double sum) { return static_cast<float>(sum); });
    store_columns(panel.row_dots.data(), kMaxLanes, task.row_dots, queries, 1);
}

// Calls visit(keys, tile) for the tiles of keys that are visible to a panel of the block, with dS among the gradients.
template <class Visit>
void for_each_key_tile(GradientTask const& task, QueryPanel const& panel, Visit visit) {
    Box const keys = task.block.group.keys_of(task.block.box);
    Visibility const visibility(task.block.group, panel.lanes, keys, task.scratch.seen);
    for (std::int64_t key = 0; key < keys.count(); key += kTileKeys) {
        Tokens const tokens = tile_of(task.block, keys, key);
        VisibleKeys const tile = key_tile(tokens, visibility);
        if (!tile.is_seen) continue;
        load_key_columns(task, tokens);
        differentiate_scores(task, panel, tile);
        visit(tokens, tile);
    }
}

// Sums dQ of a block of queries, without the scale. Returns whether it has NaN.
bool sum_query_gradients(GradientTask const& task, QueryPanel const& panel) {
    NeighborhoodRun const& run = task.run;
    GradientScratch const& scratch = task.scratch;
    std::int64_t const stride = run.row_padded(run.width()), elements = stride * run.lanes();
    std::fill_n(scratch.d_q, elements, 0.0f);
    for_each_key_tile(task, panel, [&](Tokens const& keys, VisibleKeys const& tile) {
        load_rows(task.problem()[K], keys, run.width(), scratch.k_rows, stride);
        add_rows_times_tile(run, scratch.k_rows, scratch.gradients, tile.count, task.is_careful, scratch.d_q);
    });
    return run.kernels.holds_nan(scratch.d_q, elements);
}

// NaN can come from 0 times infinity or NaN of a pair of a query and a key that is not visible to it. That is rare;
// only then are the sums computed again, skipping zeros, which leaves all others as they are.
void differentiate_queries(GradientTask task) {
    NeighborhoodRun const& run = task.run;
    PairScope const scope(task.scratch.pairs.kernels());
    Tokens const queries{task.block, task.block.box, 0, task.block.box.count()};
    QueryPanel panel = load_panel(task, queries);
    find_row_dots(task, queries, panel);
    if (sum_query_gradients(task, panel)) {
        task.is_careful = true;
        sum_query_gradients(task, panel);
    }
    scale(task.scratch.d_q, run.width() * run.lanes(), task.problem().scale);
    store_columns(task.scratch.d_q, run.lanes(), task.problem()[DQ], queries, run.width());
}

// dS is 0 for pairs of a query and a key that is not visible to it, and is no sum of products.
void sum_bias_gradients(GradientTask const& task, DistanceSums& sums) {
    PairScope const scope(task.scratch.pairs.kernels());
    Tokens const queries{task.block, task.block.box, 0, task.block.box.count()};
    QueryPanel panel = load_panel(task, queries);
    load_columns(task.row_dots, queries, 1, panel.row_dots.data(), kMaxLanes);
    PairOffsets const offsets = sums.offsets_of(task.block, panel.lanes);
    for_each_key_tile(task, panel, [&](Tokens const&, VisibleKeys const& tile) {
        sums.add(task.scratch.gradients, task.run.lanes(), tile, offsets);
    });
}

// Adds one panel of the queries to which a block of keys is visible.
void add_key_gradients(GradientTask const& task, Tokens const& keys, Tokens const& queries) {
    NeighborhoodRun const& run = task.run;
    NeighborhoodProblem const& problem = task.problem();
    GradientScratch const& scratch = task.scratch;
    QueryPanel panel = load_panel(task, queries);
    VisibleKeys const tile = key_tile(keys, Visibility(task.block.group, panel.lanes, task.block.box, scratch.seen));
    if (!tile.is_seen) return;
    load_columns(task.row_dots, queries, 1, panel.row_dots.data(), kMaxLanes);
    std::int64_t const stride = run.lane_padded(run.width());
    load_rows(problem[Q], queries, run.width(), scratch.q_rows, stride);
    scale(scratch.q_rows, queries.count * stride, problem.scale);
    load_rows(problem[DO], queries, run.width(), scratch.d_o_rows, stride);
    differentiate_scores(task, panel, tile);
    add_tile_times_rows(run, scratch.gradients, scratch.q_rows, keys.count, queries.count, task.is_careful,
                        scratch.d_k);
    add_tile_times_rows(run, scratch.scores, scratch.d_o_rows, keys.count, queries.count, task.is_careful, scratch.d_v);
}

// Sums dK and dV of a block of keys. Returns whether they have NaN.
bool sum_key_gradients(GradientTask const& task, Tokens const& keys) {
    NeighborhoodRun const& run = task.run;
    std::int64_t const elements = kTileKeys * run.lane_padded(run.width());
    for (float* const sums : {task.scratch.d_k, task.scratch.d_v}) std::fill_n(sums, elements, 0.0f);
    Box const queries = task.block.group.queries_of(task.block.box);
    for (std::int64_t query = 0; query < queries.count(); query += run.lanes()) {
        std::int64_t const count = std::min(run.lanes(), queries.count() - query);
        add_key_gradients(task, keys, {task.block, queries, query, count});
    }
    return run.kernels.holds_nan(task.scratch.d_k, elements) || run.kernels.holds_nan(task.scratch.d_v, elements);
}

void differentiate_keys(GradientTask task) {
    PairScope const scope(task.scratch.pairs.kernels());
    Tokens const keys = tile_of(task.block, task.block.box, 0);
    load_key_columns(task, keys);
    if (sum_key_gradients(task, keys)) {
        task.is_careful = true;
        sum_key_gradients(task, keys);
    }
    std::int64_t const stride = task.run.lane_padded(task.run.width());
    store_rows(task.scratch.d_k, stride, task.problem()[DK], keys, task.run.width());
    store_rows(task.scratch.d_v, stride, task.problem()[DV], keys, task.run.width());
}

}  // namespace

std::int64_t backward_bytes(NeighborhoodProblem const& problem, int threads) {
    NeighborhoodRun const run(problem);
    Arena arena(nullptr, 0);
    take_row_dots(problem, arena);
    return std::max(workers_bytes<GradientScratch>(run, run.blocks_of_queries(), threads, arena.used()),
                    workers_bytes<GradientScratch>(run, run.blocks_of_keys(), threads, arena.used()));
}

void run_backward(NeighborhoodProblem const& problem, int threads, void* workspace) {
    NeighborhoodRun const run(problem);
    Arena arena(workspace, 0);
    TokenView const row_dots = row_dots_view(problem, take_row_dots(problem, arena));
    for_each_block<GradientScratch>(run, run.blocks_of_queries(), threads, workspace, arena.used(),
                                    [&](TokenBlock const& block, GradientScratch const& scratch) {
                                        differentiate_queries({run, row_dots, block, scratch});
                                    });
    for_each_block<GradientScratch>(run, run.blocks_of_keys(), threads, workspace, arena.used(),
                                    [&](TokenBlock const& block, GradientScratch const& scratch) {
                                        differentiate_keys({run, row_dots, block, scratch});
                                    });
    if (!problem[DRelPosBias]) return;
    for_each_head<GradientScratch>(run, run.blocks_of_queries(), threads, workspace, arena.used(),
                                   [&](std::int64_t h, GradientScratch scratch, auto const& blocks) {
                                       scratch.d_bias.clear();
                                       blocks([&](TokenBlock const& block) {
                                           sum_bias_gradients({run, row_dots, block, scratch}, scratch.d_bias);
                                       });
                                       scratch.d_bias.store(h);
                                   });
}

}  // namespace cudnn_frontend::cpu
