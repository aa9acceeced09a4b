// Forward attention: workers process blocks of queries against all keys with an online softmax.
#include "cpu/attention/attention_forward.h"

#include "core/threads.h"
#include "cpu/attention/attention_scores.h"
#include "cpu/attention/attention_tile.h"
#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace cudnn_frontend::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The number of tiles that fill a part of the second-level cache, where panels go through the keys one by one.
std::int64_t kept_tiles(AttentionRun const& run) {
    if (!run.has_pair_blocks()) return 1;
    AttentionShape const& shape = run.shape;
    TileSizes const& tile = run.tile;
    constexpr std::int64_t kBytes = std::int64_t{512} * 1024;
    std::int64_t const bytes =
        tile.keys * 4 * tile.pairs_of(shape.width) + tile.keys * 2 * tile.padded_rows(shape.value_width);
    std::int64_t const all = (shape.keys + tile.keys - 1) / tile.keys;
    return std::clamp<std::int64_t>(kBytes / bytes, 1, std::max<std::int64_t>(all, 1));
}

ForwardRun make_forward(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads) {
    constexpr std::int64_t kMostQueries = 4096;
    AttentionRun const run =
        make_run(tensors, modifier, {{Port::Q, Port::K, Port::V}, {Port::O}, kMostQueries}, threads);
    return {run, run.tile.padded_rows(run.shape.value_width), kept_tiles(run)};
}

ForwardScratch take_scratch(ForwardRun const& run, Arena& arena) {
    ForwardScratch scratch{};
    std::int64_t const keys = run.tile.keys;
    scratch.q = arena.take<float>(run.block, run.shape.width);
    scratch.o = arena.take<float>(run.block, run.value_stride);
    scratch.k = arena.take<float>(keys, run.shape.width);
    scratch.v = arena.take<float>(keys, run.value_stride);
    scratch.scores = arena.take<float>(keys, run.lanes());
    if (run.pairs != nullptr) {
        scratch.q_pairs = arena.take<std::uint32_t>(run.block, run.pairs_of_width());
        scratch.k_pairs = arena.take<std::uint32_t>(run.kept_tiles * keys, run.pairs_of_width());
        scratch.v_pairs = arena.take<std::uint32_t>(keys / 2, run.value_stride);
        scratch.p_pairs = arena.take<std::uint32_t>(2 * (keys / 2), run.lanes());
    }
    if (run.has_pair_blocks()) scratch.v_columns = arena.take<std::uint32_t>(run.kept_tiles, run.value_blocks());
    scratch.spare = arena.take<float>(keys, run.lanes());
    scratch.running_max = arena.take<float>(run.block, 1);
    scratch.running_sum = arena.take<float>(run.block, 1);
    scratch.modifier = arena.take<std::byte>(run.modifier.scratch_bytes(run.lanes()), 1);
    scratch.hidden = arena.take<std::byte>(HiddenTiles::memory_bytes(run.modifier, run.block, run.lanes()), 1);
    return scratch;
}

std::int64_t scratch_bytes(ForwardRun const& run) {
    Arena arena(nullptr, 0);
    take_scratch(run, arena);
    return arena.used();
}

// Stores a number for each query of a panel. A ragged tensor has no memory for queries past the sequence's length.
void store_rows(ForwardTask const& task, std::int64_t p, DataView const& view, float* numbers) {
    if (!view) return;
    std::int64_t const first = task.queries.begin + p * task.run.lanes();
    std::int64_t const all = std::min(task.run.lanes(), task.queries.end - first);
    std::int64_t const rows = view.starts ? task.panel(p).size() : all;
    store_tile({numbers, 1, rows, 1}, slice_of(view, task.b, task.h, first, 0));
}

// Queries without visible keys, such as those past the sequence's length, still have the initial maximum and sum.
void store_softmax(ForwardTask const& task, std::int64_t p) {
    AttentionTensors const& tensors = task.run.tensors;
    float* const max = task.scratch.running_max + p * task.run.lanes();
    float* const sum = task.scratch.running_sum + p * task.run.lanes();
    std::fill(max + task.panel(p).size(), max + task.run.lanes(), task.before_keys().max);
    std::fill(sum + task.panel(p).size(), sum + task.run.lanes(), task.before_keys().sum);
    store_rows(task, p, tensors[Port::Max], max);
    store_rows(task, p, tensors[Port::SumExp], sum);
    std::array<float, kMaxLanes> stats;
    std::transform(max, max + task.run.lanes(), sum, stats.begin(),
                   [&](float m, float s) { return (m + std::log(s)) / task.problem.log_of_base; });
    store_rows(task, p, tensors[Port::Stats], stats.data());
}

// Queries past the sequence's length and queries without visible keys get O = 0.
void store_panel(ForwardTask const& task, std::int64_t p) {
    AttentionTensors const& tensors = task.run.tensors;
    std::int64_t const lanes = task.run.lanes(), first = task.queries.begin + p * lanes;
    std::int64_t const present = task.panel(p).size(), all = std::min(lanes, task.queries.end - first);
    // With an infinite sink no key has any probability, whatever the sum is.
    bool const has_infinite_sink = task.problem.sink_of(task.h) == kInfinity;
    std::array<float, kMaxLanes> factors{};
    for (std::int64_t lane = 0; lane < present; ++lane) {
        float const sum = has_infinite_sink ? 1.0f : task.scratch.running_sum[p * lanes + lane];
        if (sum != 0.0f) factors[static_cast<std::size_t>(lane)] = task.problem.dropout_scale / sum;
    }
    float* const o = task.scratch.o + p * lanes * task.run.value_stride;
    task.run.kernels.scale_lanes(o, task.run.shape.value_width, factors.data());
    std::int64_t const rows = tensors[Port::O].starts ? present : all;
    store_tile({o, lanes, task.run.shape.value_width, rows},
               transposed(slice_of(tensors[Port::O], task.b, task.h, first, 0)));
    store_softmax(task, p);
}

// NaN in O can come from 0 times infinity or NaN of a value that is not visible to the query. That is rare; only then
// is the block computed again, skipping zeros, which leaves all other sums as they are.
void run_task(ForwardTask task) {
    PairScope const scope(task.run.pairs);
    attend_to_keys(task);
    if (task.run.kernels.holds_nan(task.scratch.o, task.padded_queries() * task.run.value_stride)) {
        task.is_careful = true;
        attend_to_keys(task);
    }
    for (std::int64_t p = 0; p < task.panels(); ++p) store_panel(task, p);
}

// Where each tile of keys serves all queries before the next tile is loaded, a part has as few queries as the
// second-level cache holds.
void run_in_parts(ForwardTask task) {
    constexpr std::int64_t kPart = 1024;
    Range const all = task.queries;
    std::int64_t const part = task.takes_turns() ? all.size() : kPart;
    for (std::int64_t begin = all.begin; begin < all.end; begin += part) {
        task.queries = {begin, std::min(begin + part, all.end)};
        run_task(task);
    }
}

}  // namespace

int useful_threads(AttentionTensors const& tensors) {
    AttentionShape const shape = shape_of(tensors[Port::Q], tensors[Port::K], tensors[Port::V]);
    // Products of few queries wait for memory.
    std::int64_t const products_of_thread = has_few_queries(shape) ? 1 << 18 : 1 << 20;
    constexpr std::int64_t kOfSoftmax = 16;
    std::int64_t products = shape.width + shape.value_width + kOfSoftmax;
    for (std::int64_t const factor : {shape.batches, shape.heads, shape.queries, shape.keys})
        products = saturating_multiply(products, factor);
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp<std::int64_t>(products / products_of_thread, 1, kMost));
}

std::int64_t forward_workspace(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads) {
    threads = std::max(threads, 1);
    ForwardRun const run = make_forward(tensors, modifier, threads);
    std::int64_t const workers = std::min<std::int64_t>(threads, run.tasks());
    std::int64_t const bytes = Arena::workspace_bytes(saturating_multiply(workers, scratch_bytes(run)));
    // Options that tensors do not show decide how few queries run.
    return has_few_queries(run.shape) ? std::max(bytes, few_queries_workspace(tensors, threads)) : bytes;
}

error_t attention_forward(AttentionWork work, int threads, void* workspace) {
    threads = std::max(threads, 1);
    AttentionTensors const& tensors = work.tensors;
    AttentionProblem const problem = make_problem(tensors, work.options, std::move(work.modifier));
    int const used = std::min(threads, work.most_threads);
    if (attends_few_queries(problem)) {
        attend_few_queries(tensors, problem, used, workspace);
        return {};
    }
    ForwardRun const run = make_forward(tensors, problem.modifier, threads);
    std::int64_t const bytes = scratch_bytes(run);
    core::parallel_for(used, run.tasks(), [&](int worker, std::int64_t index) {
        Arena arena(workspace, worker * bytes);
        // Under a causal mask the most keys are visible to the last queries: they go first, which balances the threads.
        std::int64_t const begin = (run.blocks() - 1 - index % run.blocks()) * run.block;
        std::int64_t const head = index / run.blocks();
        std::int64_t const b = head / run.shape.heads;
        run_in_parts({run,
                      problem,
                      take_scratch(run, arena),
                      problem.sequence(b),
                      b,
                      head % run.shape.heads,
                      {begin, std::min(begin + run.block, run.shape.queries)}});
    });
    if (tensors[Port::RngDump] && problem.generator) dump_dropout_mask(problem, tensors[Port::RngDump], used);
    return {};
}

}  // namespace cudnn_frontend::cpu
