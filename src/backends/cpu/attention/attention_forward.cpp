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
    float *q, *o;                                          // panels
    float *k, *v;                                          // width x keys, keys x value width
    float *scores, *spare;                                 // tiles
    std::uint32_t *q_pairs, *k_pairs, *v_pairs, *p_pairs;  // the same as pairs, where the run has them
    std::uint32_t* v_columns;                              // value width x pairs of keys, where the layout is RowMajor
    float *running_max, *running_sum;                      // for each query
    std::byte *modifier, *hidden;                          // of ScoreProgram and HiddenTiles
};

struct ForwardRun {
    AttentionTensors const& tensors;
    ScoreProgram const& modifier;
    AttentionShape shape;
    Kernels const& kernels;
    PairKernels const* pairs;  // null where products are of floats
    TileSizes tile;
    std::int64_t block;         // queries of a task
    std::int64_t value_stride;  // value width in whole register blocks

    std::int64_t lanes() const { return kernels.lanes; }
    std::int64_t blocks() const { return (shape.queries + block - 1) / block; }
    std::int64_t tasks() const { return shape.batches * shape.heads * blocks(); }
    std::int64_t pairs_of_width() const { return tile.pairs_of(shape.width); }
    bool has_pairs_in_rows() const { return pairs != nullptr && pairs->layout == PairLayout::RowMajor; }
};

ForwardRun make_forward(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads) {
    AttentionShape const shape = shape_of(tensors[Port::Q], tensors[Port::K], tensors[Port::V]);
    Kernels const& best = kernels();
    bool const are_paired = have_pairs(tensors, {Port::Q, Port::K, Port::V}, {Port::O});
    PairKernels const* const pairs = are_paired ? best.pairs : nullptr;
    TileSizes const tile = tile_sizes(best, pairs);
    // Products of tiles are so fast that bringing keys and values into their layout counts.
    std::int64_t const most = pairs != nullptr && pairs->layout == PairLayout::RowMajor ? 1024 : 256;
    return {tensors,
            modifier,
            shape,
            best,
            pairs,
            tile,
            query_block(shape, best.lanes, threads, most),
            tile.padded_rows(shape.value_width)};
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
        scratch.k_pairs = arena.take<std::uint32_t>(keys, run.pairs_of_width());
        scratch.v_pairs = arena.take<std::uint32_t>(keys / 2, run.value_stride);
        scratch.p_pairs = arena.take<std::uint32_t>(2 * (keys / 2), run.lanes());
    }
    if (run.has_pairs_in_rows()) scratch.v_columns = arena.take<std::uint32_t>(run.value_stride, keys / 2);
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

    bool has_pairs() const { return run.pairs != nullptr; }
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
        Slice const rows = slice_of(task.run.tensors[Port::Q], task.b, task.h, queries.begin, 0);
        if (task.has_pairs()) {
            std::int64_t const depth = task.run.pairs_of_width(), whole = (shape.width + 1) / 2;
            std::uint32_t* const pairs = task.scratch.q_pairs + p * lanes * depth;
            load_pairs_of_columns(rows, {pairs, lanes, queries.size(), shape.width}, lanes);
            std::fill(pairs + whole * lanes, pairs + depth * lanes, 0);
            continue;
        }
        float* const panel = task.scratch.q + p * lanes * shape.width;
        load_tile(transposed(rows), {panel, lanes, shape.width, queries.size()}, lanes);
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
    ForwardRun const& run = task.run;
    DataView const& view = run.tensors[Port::K];
    std::int64_t const width = run.shape.width, pairs = run.pairs_of_width(), all = run.tile.keys;
    for_each_part(view, keys, [&](Range part) {
        Slice const k = slice_of(view, task.b, run.shape.key_head(task.h), part.begin, 0);
        std::int64_t const first = part.begin - keys.begin;
        std::int64_t const filled = part.end == keys.end ? all - first : part.size();
        if (run.has_pairs_in_rows()) {
            load_pairs_in_rows(k, {task.scratch.k_pairs + first * pairs, pairs, part.size(), width}, filled);
        } else if (task.has_pairs()) {
            load_pairs_of_columns(k, {task.scratch.k_pairs + first, all, part.size(), width}, filled);
        } else {
            load_tile(transposed(k), {task.scratch.k + first, all, width, part.size()}, filled);
        }
    });
}

// Clears infinity and NaN among pairs of values, which add_not_finite() adds, and brings the pairs into the layout of
// products.
void finish_value_pairs(ForwardTask const& task, std::int64_t keys) {
    ForwardRun const& run = task.run;
    std::int64_t const stride = run.value_stride, pairs = (keys + 1) / 2, depth = run.tile.pairs_of(keys);
    std::uint32_t* const v = task.scratch.v_pairs;
    if (task.is_careful) clear_not_finite(v, pairs * stride);
    if (!run.has_pairs_in_rows()) return;
    std::fill(v + pairs * stride, v + depth * stride, 0);
    run.pairs->transpose({v, stride, depth, stride, task.scratch.v_columns, run.tile.keys / 2});
}

void load_values(ForwardTask const& task, Range keys) {
    ForwardRun const& run = task.run;
    DataView const& view = run.tensors[Port::V];
    std::int64_t const stride = run.value_stride, width = run.shape.value_width;
    for_each_part(view, keys, [&](Range part) {
        Slice const v = slice_of(view, task.b, run.shape.value_head(task.h), part.begin, 0);
        std::int64_t const row = part.begin - keys.begin;
        if (task.has_pairs())
            load_pairs_of_rows(v, {task.scratch.v_pairs + row / 2 * stride, stride, part.size(), width}, stride);
        if (!task.has_pairs() || task.is_careful)
            load_tile(v, {task.scratch.v + row * stride, stride, part.size(), width}, stride);
    });
    if (task.has_pairs()) finish_value_pairs(task, keys.size());
}

void apply_dropout(ForwardTask const& task, ScorePlace const& place) {
    std::int64_t const lanes = task.run.lanes();
    float* const scores = task.scratch.scores;
    float const* const mask = task.scratch.spare;
    load_dropout_mask(task.problem, task.run.kernels, place, task.scratch.spare);
    for (std::int64_t i = 0; i < place.keys.size() * lanes; ++i)
        scores[i] = scores[i] == 0.0f ? 0.0f : scores[i] * mask[i];
}

// The product of pairs of a panel's queries and some keys.
PairProduct product_with_keys(ForwardTask const& task, std::int64_t p, std::int64_t keys, float* scores) {
    ForwardRun const& run = task.run;
    std::int64_t const lanes = run.lanes(), pairs = run.pairs_of_width();
    std::uint32_t const* const q = task.scratch.q_pairs + p * lanes * pairs;
    return {task.scratch.k_pairs,
            run.has_pairs_in_rows() ? pairs : run.tile.keys,
            q,
            lanes,
            scores,
            lanes,
            run.tile.padded_rows(keys),
            lanes,
            pairs};
}

// The product of pairs of weights and values, which is added to a panel of O.
PairProduct product_with_values(ForwardTask const& task, std::int64_t p, std::int64_t keys,
                                std::uint32_t const* weights) {
    ForwardRun const& run = task.run;
    std::int64_t const lanes = run.lanes(), stride = run.value_stride;
    bool const is_in_rows = run.has_pairs_in_rows();
    return {is_in_rows ? task.scratch.v_columns : task.scratch.v_pairs,
            is_in_rows ? run.tile.keys / 2 : stride,
            weights,
            lanes,
            task.scratch.o + p * lanes * stride,
            lanes,
            stride,
            lanes,
            run.tile.pairs_of(keys)};
}

// The products of a panel's queries and some keys, times `scale`; products of floats have the problem's scale.
void multiply_by_keys(ForwardTask const& task, std::int64_t p, std::int64_t keys, float scale) {
    ForwardRun const& run = task.run;
    float* const scores = task.scratch.scores;
    if (task.has_pairs()) return run.pairs->multiply(product_with_keys(task, p, keys, scores), scale);
    std::int64_t const lanes = run.lanes(), width = run.shape.width;
    float const* const q = task.scratch.q + p * lanes * width;
    run.kernels.multiply(
        {task.scratch.k, run.tile.keys, q, lanes, scores, lanes, run.tile.padded_rows(keys), lanes, width});
}

// Adds the products of probabilities and values to a panel of O.
void multiply_by_values(ForwardTask const& task, std::int64_t p, std::int64_t keys, float const* rescale) {
    ForwardRun const& run = task.run;
    ForwardScratch const& scratch = task.scratch;
    std::int64_t const lanes = run.lanes(), stride = run.value_stride;
    float* const o = scratch.o + p * lanes * stride;
    if (task.has_pairs()) {
        run.pairs->rescale_and_multiply(product_with_values(task, p, keys, scratch.p_pairs), rescale);
        if (task.is_careful) add_not_finite({scratch.v, stride, keys, run.shape.value_width}, scratch.scores, lanes, o);
    } else {
        run.kernels.rescale_and_multiply(
            {scratch.v, stride, scratch.scores, lanes, o, lanes, stride, lanes, keys, task.is_careful}, rescale);
    }
}

// The scores of a panel and a tile, up to the factor that is returned.
float compute_scores(ForwardTask const& task, std::int64_t p, ScorePlace const& place) {
    ForwardRun const& run = task.run;
    AttentionProblem const& problem = task.problem;
    ForwardScratch const& scratch = task.scratch;
    bool const is_later = task.has_pairs() && problem.has_plain_scores() && !problem.has_dropout();
    multiply_by_keys(task, p, place.keys.size(), is_later ? 1.0f : problem.scale);
    if (problem.modifier)
        problem.modifier.run(ScoreProgram::Pass::Scores, run.kernels, place, scratch.modifier, scratch.scores);
    finish_scores(problem, task.sequence, place, run.lanes(), scratch.scores, scratch.spare);
    return is_later ? problem.scale : 1.0f;
}

// One step of softmax of a tile's scores, and dropout, after which the weights are the operand of a product. A careful
// step has the same bits, so that only sums with infinity and NaN change.
void take_softmax_step(ForwardTask const& task, ScorePlace const& place, SoftmaxPairs const& step) {
    ForwardRun const& run = task.run;
    float* const scores = task.scratch.scores;
    if (task.has_pairs() && !task.problem.has_dropout()) {
        run.pairs->softmax_step(step);
        if (task.is_careful) unpack_pairs_of_rows(step.pairs, step.keys, run.lanes(), scores);
        return;
    }
    run.kernels.softmax_step(scores, step.keys, step.running_max, step.running_sum, step.rescale);
    if (task.problem.has_dropout()) apply_dropout(task, place);
    if (task.has_pairs()) run.pairs->pair_rows(scores, step.keys, step.pairs);
}

// Processes one panel against keys of a tile.
void attend(ForwardTask const& task, std::int64_t p, Range keys) {
    ForwardScratch const& scratch = task.scratch;
    ScorePlace const place{task.b, task.h, task.panel(p), keys};
    float const scale = compute_scores(task, p, place);
    std::array<float, kMaxLanes> rescale;
    float *const max = scratch.running_max + p * task.run.lanes(), *const sum =
                                                                       scratch.running_sum + p * task.run.lanes();
    take_softmax_step(task, place,
                      {scratch.scores, keys.size(), scale, max, sum, rescale.data(), scratch.p_pairs, {}, {}});
    multiply_by_values(task, p, keys.size(), rescale.data());
}

// The keys of a tile that are visible to a panel; none if masks hide all.
Range keys_of_panel(ForwardTask const& task, std::int64_t p, Range tile, HiddenTiles const& hidden) {
    Range const visible = task.sequence.keys_of(task.panel(p)), none{tile.begin, tile.begin};
    Range const keys{tile.begin, std::min(tile.end, visible.end)};
    if (keys.size() <= 0 || tile.end <= visible.begin || hidden.hides(p)) return none;
    return is_hidden(task.problem, {task.b, task.h, task.panel(p), keys}) ? none : keys;
}

// While the processor computes the softmax of a panel, its matrix unit computes the scores of the next panel, and the
// products that the panel before adds to O. Only for scores that nothing but masks changes, so that `spare` is free.
void attend_in_turns(ForwardTask const& task, Range tile, HiddenTiles const& hidden) {
    ForwardRun const& run = task.run;
    ForwardScratch const& scratch = task.scratch;
    std::int64_t const lanes = run.lanes();
    Range keys{tile.begin, tile.begin};
    auto const next_from = [&](std::int64_t p) {
        while (p < task.panels() && (keys = keys_of_panel(task, p, tile, hidden)).size() == 0) ++p;
        return p;
    };
    std::array<float*, 2> scores{scratch.scores, scratch.spare};
    std::array<std::uint32_t*, 2> weights{scratch.p_pairs, scratch.p_pairs + run.tile.keys / 2 * lanes};
    PairProduct added{};
    std::int64_t p = next_from(0);
    if (p < task.panels()) run.pairs->multiply(product_with_keys(task, p, keys.size(), scores[0]), 1.0f);
    while (p < task.panels()) {
        ScorePlace const place{task.b, task.h, task.panel(p), keys};
        finish_scores(task.problem, task.sequence, place, lanes, scores[0], nullptr);
        std::int64_t const next = next_from(p + 1);
        PairProduct const assigned =
            next < task.panels() ? product_with_keys(task, next, keys.size(), scores[1]) : PairProduct{};
        std::array<float, kMaxLanes> rescale;
        run.pairs->softmax_step({scores[0], place.keys.size(), task.problem.scale, scratch.running_max + p * lanes,
                                 scratch.running_sum + p * lanes, rescale.data(), weights[0], assigned, added});
        added = product_with_values(task, p, place.keys.size(), weights[0]);
        run.pairs->rescale(added.c, added.rows, rescale.data());
        std::swap(scores[0], scores[1]);
        std::swap(weights[0], weights[1]);
        p = next;
    }
    if (added.rows > 0) run.pairs->multiply_tile(added);
}

// Processes the block against one tile of keys.
void attend_to_tile(ForwardTask const& task, Range tile, HiddenTiles const& hidden) {
    bool const is_plain = !task.is_careful && !task.problem.has_dropout() && task.problem.has_plain_scores();
    if (task.run.has_pairs_in_rows() && is_plain) return attend_in_turns(task, tile, hidden);
    for (std::int64_t p = 0; p < task.panels(); ++p) {
        if (Range const keys = keys_of_panel(task, p, tile, hidden); keys.size() > 0) attend(task, p, keys);
    }
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
    std::int64_t const step = run.tile.keys;
    for (std::int64_t key = visible.begin / step * step; key < visible.end; key += step) {
        Range const tile{key, std::min(key + step, visible.end)};
        hidden.set_keys(tile);
        if (hidden.hides_all()) continue;
        load_keys(task, tile);
        load_values(task, tile);
        attend_to_tile(task, tile, hidden);
    }
}

// NaN in O can come from 0 times infinity or NaN of a value that is not visible to the query. That is rare; only then
// is the block computed again, skipping zeros, which leaves all other sums as they are.
void run_task(ForwardTask task) {
    PairScope const scope(task.run.pairs);
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
