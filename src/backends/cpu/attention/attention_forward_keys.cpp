#include "cpu/attention/attention_forward.h"
#include "cpu/attention/attention_scores.h"
#include "cpu/attention/attention_tile.h"
#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace cudnn_frontend::cpu {
namespace {

void load_queries(ForwardTask const& task) {
    AttentionShape const& shape = task.run.shape;
    std::int64_t const lanes = task.run.lanes();
    for (std::int64_t p = 0; p < task.panels(); ++p) {
        Range const queries = task.panel(p);
        Slice const rows = slice_of(task.run.tensors[Port::Q], task.b, task.h, queries.begin, 0);
        if (task.has_pairs()) {
            std::uint32_t* const panel = task.scratch.q_pairs + p * lanes * task.run.pairs_of_width();
            load_pairs_of_columns(rows, {panel, lanes, queries.size(), shape.width}, lanes, task.run.pairs_of_width());
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

// Pairs of keys become the tile with this index among those that are kept.
void load_keys(ForwardTask const& task, Range keys, std::int64_t index = 0) {
    ForwardRun const& run = task.run;
    DataView const& view = run.tensors[Port::K];
    std::int64_t const width = run.shape.width, pairs = run.pairs_of_width(), all = run.tile.keys;
    std::uint32_t* const k_pairs = task.scratch.k_pairs + index * all * pairs;
    for_each_part(view, keys, [&](Range part) {
        Slice const k = slice_of(view, task.b, run.shape.key_head(task.h), part.begin, 0);
        std::int64_t const first = part.begin - keys.begin;
        std::int64_t const filled = part.end == keys.end ? all - first : part.size();
        if (run.has_pair_blocks()) {
            load_pairs_in_blocks(k, {k_pairs, PairBlocks::stride(pairs), part.size(), width}, first, filled);
        } else if (task.has_pairs()) {
            load_pairs_of_columns(k, {k_pairs + first, all, part.size(), width}, filled, pairs);
        } else {
            load_tile(transposed(k), {task.scratch.k + first, all, width, part.size()}, filled);
        }
    });
}

// Clears infinity and NaN among pairs of values, which add_not_finite() adds, and brings the pairs into the layout of
// products.
void finish_value_pairs(ForwardTask const& task, std::int64_t keys, std::int64_t index) {
    ForwardRun const& run = task.run;
    std::int64_t const stride = run.value_stride, pairs = (keys + 1) / 2, depth = run.tile.pairs_of(keys);
    std::uint32_t* const v = task.scratch.v_pairs;
    if (task.is_careful) clear_not_finite(v, pairs * stride);
    if (!run.has_pair_blocks()) return;
    std::fill(v + pairs * stride, v + depth * stride, 0);
    std::uint32_t* const columns = task.scratch.v_columns + index * run.value_blocks();
    run.kernels.transpose({v, stride, depth, stride, columns, PairBlocks::stride(run.tile.keys / 2), true});
}

void load_values(ForwardTask const& task, Range keys, std::int64_t index = 0) {
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
    if (task.has_pairs()) finish_value_pairs(task, keys.size(), index);
}

void apply_dropout(ForwardTask const& task, ScorePlace const& place) {
    std::int64_t const lanes = task.run.lanes();
    float* const scores = task.scratch.scores;
    float const* const mask = task.scratch.spare;
    load_dropout_mask(task.problem, task.run.kernels, place, task.scratch.spare);
    for (std::int64_t i = 0; i < place.keys.size() * lanes; ++i)
        scores[i] = scores[i] == 0.0f ? 0.0f : scores[i] * mask[i];
}

// A panel of queries, and keys of the tile with this index among those that are kept.
struct Turn {
    std::int64_t p, index;
    Range keys;
};

// The product of pairs of a panel's queries and some keys.
PairProduct product_with_keys(ForwardTask const& task, Turn const& turn) {
    ForwardRun const& run = task.run;
    std::int64_t const lanes = run.lanes(), pairs = run.pairs_of_width();
    std::uint32_t const* const q = task.scratch.q_pairs + turn.p * lanes * pairs;
    return {task.scratch.k_pairs + turn.index * run.tile.keys * pairs,
            run.has_pair_blocks() ? PairBlocks::stride(pairs) : run.tile.keys,
            q,
            lanes,
            task.scratch.scores,
            lanes,
            run.tile.padded_rows(turn.keys.size()),
            lanes,
            pairs};
}

// The product of pairs of weights and values, which is added to a panel of O.
PairProduct product_with_values(ForwardTask const& task, Turn const& turn, std::uint32_t const* weights) {
    ForwardRun const& run = task.run;
    std::int64_t const lanes = run.lanes(), stride = run.value_stride;
    bool const is_in_blocks = run.has_pair_blocks();
    return {is_in_blocks ? task.scratch.v_columns + turn.index * run.value_blocks() : task.scratch.v_pairs,
            is_in_blocks ? PairBlocks::stride(run.tile.keys / 2) : stride,
            weights,
            lanes,
            task.scratch.o + turn.p * lanes * stride,
            lanes,
            stride,
            lanes,
            run.tile.pairs_of(turn.keys.size())};
}

// The products of a panel's queries and some keys, times `scale`; products of floats have the problem's scale.
void multiply_by_keys(ForwardTask const& task, std::int64_t p, Range keys, float scale) {
    ForwardRun const& run = task.run;
    float* const scores = task.scratch.scores;
    if (task.has_pairs()) return run.pairs->multiply(product_with_keys(task, {p, 0, keys}), scale);
    std::int64_t const lanes = run.lanes(), width = run.shape.width;
    float const* const q = task.scratch.q + p * lanes * width;
    run.kernels.multiply(
        {task.scratch.k, run.tile.keys, q, lanes, scores, lanes, run.tile.padded_rows(keys.size()), lanes, width});
}

// Adds the products of probabilities and values to a panel of O.
void multiply_by_values(ForwardTask const& task, std::int64_t p, Range keys, float const* rescale) {
    ForwardRun const& run = task.run;
    ForwardScratch const& scratch = task.scratch;
    std::int64_t const lanes = run.lanes(), stride = run.value_stride, width = run.shape.value_width;
    float* const o = scratch.o + p * lanes * stride;
    if (task.has_pairs()) {
        run.pairs->rescale_and_multiply(product_with_values(task, {p, 0, keys}, scratch.p_pairs), rescale);
        if (task.is_careful) add_not_finite({scratch.v, stride, keys.size(), width}, scratch.scores, lanes, o);
    } else {
        run.kernels.rescale_and_multiply(
            {scratch.v, stride, scratch.scores, lanes, o, lanes, stride, lanes, keys.size(), task.is_careful}, rescale);
    }
}

// The scores of a panel and a tile, up to the factor that is returned.
float compute_scores(ForwardTask const& task, std::int64_t p, ScorePlace const& place) {
    ForwardRun const& run = task.run;
    AttentionProblem const& problem = task.problem;
    ForwardScratch const& scratch = task.scratch;
    bool const is_later = task.has_pairs() && problem.has_plain_scores() && !problem.has_dropout();
    multiply_by_keys(task, p, place.keys, is_later ? 1.0f : problem.scale);
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
                      {scratch.scores, keys.size(), scale, max, sum, rescale.data(), scratch.p_pairs, {}, task.lag()});
    multiply_by_values(task, p, keys, rescale.data());
}

// The keys of a tile that are visible to a panel; none if masks hide all.
Range keys_of_panel(ForwardTask const& task, std::int64_t p, Range tile) {
    Range const visible = task.sequence.keys_of(task.panel(p)), none{tile.begin, tile.begin};
    Range const keys{tile.begin, std::min(tile.end, visible.end)};
    if (keys.size() <= 0 || tile.end <= visible.begin) return none;
    return is_hidden(task.problem, {task.b, task.h, task.panel(p), keys}) ? none : keys;
}

// Processes the block against one tile of keys.
void attend_to_tile(ForwardTask const& task, Range tile, HiddenTiles const& hidden) {
    load_keys(task, tile);
    load_values(task, tile);
    for (std::int64_t p = 0; p < task.panels(); ++p) {
        if (hidden.hides(p)) continue;
        if (Range const keys = keys_of_panel(task, p, tile); keys.size() > 0) attend(task, p, keys);
    }
}

// All panels with all tiles of some keys: first the tiles of one panel, whose results stay in the first cache.
class Turns {
   public:
    Turns(ForwardTask const& task, Range keys) : task_(task), keys_(keys) {}

    // The next panel and tile with visible keys, if there is one.
    std::optional<Turn> next() {
        for (; p_ < task_.panels(); ++p_, index_ = 0) {
            while (index_ < tiles()) {
                Range const keys = keys_of_panel(task_, p_, tile(index_++));
                if (keys.size() > 0) return Turn{p_, index_ - 1, keys};
            }
        }
        return {};
    }
    std::int64_t tiles() const { return (keys_.size() + task_.run.tile.keys - 1) / task_.run.tile.keys; }
    Range tile(std::int64_t index) const {
        std::int64_t const begin = keys_.begin + index * task_.run.tile.keys;
        return {begin, std::min(begin + task_.run.tile.keys, keys_.end)};
    }

   private:
    ForwardTask const& task_;
    Range keys_;
    std::int64_t p_ = 0, index_ = 0;
};

// Processes the block against the tiles that are kept. While the processor computes the softmax of a turn, its matrix
// unit computes the scores of the next one, and the products that the turn before adds to O.
void attend_in_turns(ForwardTask const& task, Range block) {
    ForwardRun const& run = task.run;
    ForwardScratch const& scratch = task.scratch;
    std::int64_t const lanes = run.lanes();
    Turns turns(task, block);
    for (std::int64_t i = 0; i < turns.tiles(); ++i) {
        load_keys(task, turns.tile(i), i);
        load_values(task, turns.tile(i), i);
    }
    std::array<std::uint32_t*, 2> weights{scratch.p_pairs, scratch.p_pairs + run.tile.keys / 2 * lanes};
    PairProduct added{};
    std::optional<Turn> turn = turns.next();
    if (turn) run.pairs->multiply(product_with_keys(task, *turn), 1.0f);
    while (turn) {
        ScorePlace const place{task.b, task.h, task.panel(turn->p), turn->keys};
        finish_scores(task.problem, task.sequence, place, lanes, scratch.scores, nullptr);
        std::optional<Turn> const next = turns.next();
        PairProduct const assigned = next ? product_with_keys(task, *next) : PairProduct{};
        std::array<float, kMaxLanes> rescale;
        float *const max = scratch.running_max + turn->p * lanes, *const sum = scratch.running_sum + turn->p * lanes;
        run.pairs->softmax_step({scratch.scores,
                                 place.keys.size(),
                                 task.problem.scale,
                                 max,
                                 sum,
                                 rescale.data(),
                                 weights[0],
                                 {{assigned, {}}, added},
                                 task.lag()});
        added = product_with_values(task, *turn, weights[0]);
        run.pairs->rescale(added.c, added.rows, rescale.data());
        std::swap(weights[0], weights[1]);
        turn = next;
    }
    if (added.rows > 0) run.pairs->multiply_tile(added);
}

}  // namespace

void attend_to_keys(ForwardTask const& task) {
    ForwardRun const& run = task.run;
    std::fill_n(task.scratch.o, task.padded_queries() * run.value_stride, 0.0f);
    std::fill_n(task.scratch.running_max, task.padded_queries(), task.before_keys().max);
    std::fill_n(task.scratch.running_sum, task.padded_queries(), task.before_keys().sum);
    load_queries(task);
    Range const visible =
        task.sequence.keys_of({task.queries.begin, std::min(task.queries.end, task.sequence.queries)});
    HiddenTiles hidden(run.modifier, task.b, task.h, task.queries, run.lanes(), task.scratch.hidden);
    std::int64_t const step = run.tile.keys * (task.takes_turns() ? run.kept_tiles : 1);
    for (std::int64_t key = visible.begin / run.tile.keys * run.tile.keys; key < visible.end; key += step) {
        Range const keys{key, std::min(key + step, visible.end)};
        if (task.takes_turns()) {
            attend_in_turns(task, keys);
            continue;
        }
        hidden.set_keys(keys);
        if (!hidden.hides_all()) attend_to_tile(task, keys, hidden);
    }
}

}  // namespace cudnn_frontend::cpu
