// Forward attention: workers process blocks of queries against all keys with an online softmax.
#include "core/threads.h"
#include "cpu/attention/attention_problem.h"
#include "cpu/attention/attention_scores.h"
#include "cpu/attention/attention_scratch.h"
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

// A worker's memory. Queries come in panels of one register block of lanes; a panel is depth x lanes.
struct ForwardScratch {
    float *q, *o;                      // panels
    float *k, *v;                      // width x keys, keys x value width
    float *scores, *spare;             // tiles
    float *running_max, *running_sum;  // for each query
    std::byte *modifier, *hidden;      // of ScoreProgram and HiddenTiles
};

struct ForwardRun {
    AttentionTensors const& tensors;
    ScoreProgram const& modifier;
    AttentionShape shape;
    Kernels const& kernels;
    std::int64_t block;         // queries of a task
    std::int64_t value_stride;  // value width in whole register blocks

    std::int64_t lanes() const { return kernels.lanes; }
    std::int64_t panels() const { return (block + lanes() - 1) / lanes(); }
    std::int64_t blocks() const { return (shape.queries + block - 1) / block; }
    std::int64_t tasks() const { return shape.batches * shape.heads * blocks(); }
};

ForwardRun make_forward(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads) {
    AttentionShape const shape = shape_of(tensors[Port::Q], tensors[Port::K], tensors[Port::V]);
    Kernels const& best = kernels();
    return {tensors,
            modifier,
            shape,
            best,
            query_block(shape, best.lanes, threads),
            round_up(shape.value_width, best.row_step)};
}

ForwardScratch take_scratch(ForwardRun const& run, Arena& arena) {
    ForwardScratch scratch;
    scratch.q = arena.take<float>(run.block, run.shape.width);
    scratch.o = arena.take<float>(run.block, run.value_stride);
    scratch.k = arena.take<float>(kTileKeys, run.shape.width);
    scratch.v = arena.take<float>(kTileKeys, run.value_stride);
    scratch.scores = arena.take<float>(kTileKeys, run.lanes());
    scratch.spare = arena.take<float>(kTileKeys, run.lanes());
    scratch.running_max = arena.take<float>(run.block, 1);
    scratch.running_sum = arena.take<float>(run.block, 1);
    scratch.modifier = arena.take<std::byte>(run.modifier.scratch_bytes(run.lanes()), 1);
    scratch.hidden = arena.take<std::byte>(HiddenTiles::memory_bytes(run.modifier, run.panels()), 1);
    return scratch;
}

std::int64_t scratch_bytes(ForwardRun const& run) {
    Arena arena(nullptr, 0);
    take_scratch(run, arena);
    return arena.used();
}

// The maximum of a row's scores, and the sum of exp(score - maximum).
struct RunningSoftmax {
    float max, sum;
};

// One block of queries of one head.
struct ForwardTask {
    ForwardRun const& run;
    AttentionProblem const& problem;
    ForwardScratch scratch;
    Sequence sequence;
    std::int64_t b, h;
    Range queries;
    bool is_careful = false;  // masked keys contribute nothing, even if V has NaN or infinity there

    std::int64_t panels() const { return (queries.size() + run.lanes() - 1) / run.lanes(); }
    // The panel's queries within the sequence's length.
    Range panel(std::int64_t index) const {
        std::int64_t const begin = queries.begin + index * run.lanes();
        return {begin, std::min({begin + run.lanes(), queries.end, sequence.queries})};
    }
    // The initial value, before any key. A sink is a score without a key.
    RunningSoftmax before_keys() const {
        float const sink = problem.sink_of(h);
        return {sink, sink == -kInfinity ? 0.0f : 1.0f};
    }
};

void load_queries(ForwardTask const& task) {
    AttentionShape const& shape = task.run.shape;
    std::int64_t const lanes = task.run.lanes();
    for (std::int64_t p = 0; p < task.panels(); ++p) {
        Range const queries = task.panel(p);
        float* const panel = task.scratch.q + p * lanes * shape.width;
        Slice const slice = transposed(slice_of(task.run.tensors[Port::Q], task.b, task.h, queries.begin, 0));
        load_tile(slice, {panel, lanes, shape.width, queries.size()}, lanes);
        for (std::int64_t i = 0; i < lanes * shape.width; ++i) panel[i] *= task.problem.scale;
    }
}

// Calls load(part) for ranges of keys at a constant stride: all keys, or those of a page.
template <class Load>
void for_each_part(DataView const& view, Range keys, Load const& load) {
    while (keys.size() > 0) {
        Range const part{keys.begin, keys.begin + view.rows_together(keys.begin, keys.size())};
        load(part);
        keys.begin = part.end;
    }
}

void load_keys(ForwardTask const& task, Range keys) {
    AttentionTensors const& tensors = task.run.tensors;
    AttentionShape const& shape = task.run.shape;
    for_each_part(tensors[Port::K], keys, [&](Range part) {
        Slice const k = transposed(slice_of(tensors[Port::K], task.b, shape.key_head(task.h), part.begin, 0));
        std::int64_t const column = part.begin - keys.begin;
        std::int64_t const filled = part.end == keys.end ? kTileKeys - column : part.size();
        load_tile(k, {task.scratch.k + column, kTileKeys, shape.width, part.size()}, filled);
    });
    for_each_part(tensors[Port::V], keys, [&](Range part) {
        Slice const v = slice_of(tensors[Port::V], task.b, shape.value_head(task.h), part.begin, 0);
        float* const rows = task.scratch.v + (part.begin - keys.begin) * task.run.value_stride;
        load_tile(v, {rows, task.run.value_stride, part.size(), shape.value_width}, task.run.value_stride);
    });
}

void apply_dropout(ForwardTask const& task, ScorePlace const& place) {
    std::int64_t const lanes = task.run.lanes();
    float* const scores = task.scratch.scores;
    float const* const mask = task.scratch.spare;
    load_dropout_mask(task.problem, place, lanes, task.scratch.spare);
    for (std::int64_t i = 0; i < place.keys.size() * lanes; ++i)
        scores[i] = scores[i] == 0.0f ? 0.0f : scores[i] * mask[i];
}

// Processes one panel against one tile of keys.
void attend(ForwardTask const& task, std::int64_t p, Range tile) {
    ForwardRun const& run = task.run;
    ForwardScratch const& scratch = task.scratch;
    Range const visible = task.sequence.keys_of(task.panel(p));
    Range const keys{tile.begin, std::min(tile.end, visible.end)};
    if (keys.size() == 0 || tile.end <= visible.begin) return;
    ScorePlace const place{task.b, task.h, task.panel(p), keys};
    if (is_hidden(task.problem, place)) return;

    std::int64_t const lanes = run.lanes(), width = run.shape.width;
    std::int64_t const score_rows = round_up(keys.size(), run.kernels.row_step);
    run.kernels.multiply(
        {scratch.k, kTileKeys, scratch.q + p * lanes * width, lanes, scratch.scores, lanes, score_rows, lanes, width});
    if (task.problem.modifier)
        task.problem.modifier.run(ScoreProgram::Pass::Scores, run.kernels, place, scratch.modifier, scratch.scores);
    finish_scores(task.problem, task.sequence, place, lanes, scratch.scores, scratch.spare);

    std::array<float, kMaxLanes> rescale;
    run.kernels.softmax_step(scratch.scores, keys.size(), scratch.running_max + p * lanes,
                             scratch.running_sum + p * lanes, rescale.data());
    if (task.problem.has_dropout()) apply_dropout(task, place);
    float* const o = scratch.o + p * lanes * run.value_stride;
    run.kernels.rescale_and_multiply({scratch.v, run.value_stride, scratch.scores, lanes, o, lanes, run.value_stride,
                                      lanes, keys.size(), task.is_careful},
                                     rescale.data());
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

// Processes the block against all keys that are visible to it.
void attend_to_keys(ForwardTask const& task) {
    ForwardRun const& run = task.run;
    std::fill(task.scratch.o, task.scratch.o + run.block * run.value_stride, 0.0f);
    std::fill(task.scratch.running_max, task.scratch.running_max + run.block, task.before_keys().max);
    std::fill(task.scratch.running_sum, task.scratch.running_sum + run.block, task.before_keys().sum);
    load_queries(task);
    Range const visible =
        task.sequence.keys_of({task.queries.begin, std::min(task.queries.end, task.sequence.queries)});
    HiddenTiles hidden(run.modifier, task.b, task.h, task.queries, run.lanes(), task.scratch.hidden);
    for (std::int64_t key = visible.begin / kTileKeys * kTileKeys; key < visible.end; key += kTileKeys) {
        Range const tile{key, std::min(key + kTileKeys, visible.end)};
        hidden.set_keys(tile);
        if (hidden.hides_all()) continue;
        load_keys(task, tile);
        for (std::int64_t p = 0; p < task.panels(); ++p) {
            if (!hidden.hides(p)) attend(task, p, tile);
        }
    }
}

// NaN in O can come from 0 times infinity or NaN of a value that is not visible to the query. That is rare; only then
// is the block computed again, skipping zeros, which leaves all other sums as they are.
void run_task(ForwardTask task) {
    attend_to_keys(task);
    if (task.run.kernels.holds_nan(task.scratch.o, task.run.block * task.run.value_stride)) {
        task.is_careful = true;
        attend_to_keys(task);
    }
    for (std::int64_t p = 0; p < task.panels(); ++p) store_panel(task, p);
}

}  // namespace

std::int64_t forward_workspace(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads) {
    threads = std::max(threads, 1);
    ForwardRun const run = make_forward(tensors, modifier, threads);
    std::int64_t const workers = std::min<std::int64_t>(threads, run.tasks());
    return Arena::workspace_bytes(saturating_multiply(workers, scratch_bytes(run)));
}

error_t attention_forward(AttentionWork work, int threads, void* workspace) {
    threads = std::max(threads, 1);
    AttentionTensors const& tensors = work.tensors;
    AttentionProblem const problem = make_problem(tensors, work.options, std::move(work.modifier));
    ForwardRun const run = make_forward(tensors, problem.modifier, threads);
    std::int64_t const bytes = scratch_bytes(run);
    core::parallel_for(threads, run.tasks(), [&](int worker, std::int64_t index) {
        Arena arena(workspace, worker * bytes);
        // Under a causal mask the most keys are visible to the last queries: they go first, which balances the threads.
        std::int64_t const begin = (run.blocks() - 1 - index % run.blocks()) * run.block;
        std::int64_t const head = index / run.blocks();
        std::int64_t const b = head / run.shape.heads;
        run_task({run,
                  problem,
                  take_scratch(run, arena),
                  problem.sequence(b),
                  b,
                  head % run.shape.heads,
                  {begin, std::min(begin + run.block, run.shape.queries)}});
    });
    if (tensors[Port::RngDump] && problem.generator) dump_dropout_mask(problem, tensors[Port::RngDump], threads);
    return {};
}

}  // namespace cudnn_frontend::cpu
