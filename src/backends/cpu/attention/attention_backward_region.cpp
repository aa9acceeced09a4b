#include "cpu/attention/attention_backward.h"

#include "cpu/attention/attention_tile.h"
#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cudnn_frontend::cpu {
namespace {

// One block of queries of one head, which goes through the region's keys.
struct QueryBlock {
    BackwardRun const& run;
    AttentionProblem const& problem;
    Region const& region;
    BackwardScratch const& scratch;
    Sequence sequence;
    std::int64_t h;
    Range queries;

    std::int64_t panels() const { return (queries.size() + run.lanes() - 1) / run.lanes(); }
    // The panel's queries within the sequence's length.
    Range panel(std::int64_t index) const {
        std::int64_t const begin = queries.begin + index * run.lanes();
        return {begin, std::min({begin + run.lanes(), queries.end, sequence.queries})};
    }
    template <class Element>
    Element* in_panels(Element* panels, std::int64_t index, std::int64_t depth) const {
        return panels + index * run.lanes() * depth;
    }
    bool has_pairs() const { return run.pairs != nullptr; }
    // Rows as floats: instead of pairs, or for infinities and NaN, which a careful region clears in pairs.
    bool has_floats() const { return run.pairs == nullptr || region.is_careful; }
};

void scale(float* data, std::int64_t count, float factor) {
    for (std::int64_t i = 0; i < count; ++i) data[i] *= factor;
}

// Queries along the lanes, as the right-hand side of a product over the width.
void load_panel(QueryBlock const& step, DataView const& view, Range queries, std::int64_t width, float* panel) {
    Slice const slice = transposed(slice_of(view, step.region.b, step.h, queries.begin, 0));
    load_tile(slice, {panel, step.run.lanes(), width, queries.size()}, step.run.lanes());
}

// The width along the lanes, as the right-hand side of a product over queries.
void load_rows(QueryBlock const& step, DataView const& view, Range queries, std::int64_t width, float* rows) {
    std::int64_t const stride = step.run.lane_padded(width);
    Slice const slice = slice_of(view, step.region.b, step.h, queries.begin, 0);
    load_tile(slice, {rows, stride, queries.size(), width}, stride);
}

// The same two as pairs.
void load_panel_pairs(QueryBlock const& step, DataView const& view, Range queries, std::int64_t width,
                      std::uint32_t* panel) {
    Slice const slice = slice_of(view, step.region.b, step.h, queries.begin, 0);
    std::int64_t const lanes = step.run.lanes();
    load_pairs_of_columns(slice, {panel, lanes, queries.size(), width}, lanes);
    std::fill(panel + (width + 1) / 2 * lanes, panel + step.run.tile.pairs_of(width) * lanes, 0);
}
void load_row_pairs(QueryBlock const& step, DataView const& view, Range queries, std::int64_t width,
                    std::uint32_t* rows) {
    std::int64_t const stride = step.run.lane_padded(width);
    Slice const slice = slice_of(view, step.region.b, step.h, queries.begin, 0);
    std::int64_t const pairs = (queries.size() + 1) / 2;
    load_pairs_of_rows(slice, {rows, stride, queries.size(), width}, stride);
    if (step.region.is_careful) clear_not_finite(rows, pairs * stride);
    std::fill(rows + pairs * stride, rows + step.run.tile.pairs_of(queries.size()) * stride, 0);
}

// Row sums of dO * O, for each lane.
void dot_columns(float const* a, float const* b, std::int64_t rows, std::int64_t lanes, float* dots) {
    std::array<double, kMaxLanes> sums{};
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            std::int64_t const at = row * lanes + lane;
            sums[static_cast<std::size_t>(lane)] += double{a[at]} * double{b[at]};
        }
    }
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        dots[lane] = static_cast<float>(sums[static_cast<std::size_t>(lane)]);
    }
}

void load_query_panel(QueryBlock const& step, std::int64_t p) {
    AttentionTensors const& tensors = step.run.tensors;
    AttentionShape const& shape = step.run.shape;
    std::int64_t const lanes = step.run.lanes();
    Range const queries = step.panel(p);
    float* const q = step.in_panels(step.scratch.q_panels, p, shape.width);
    float* const d_o = step.in_panels(step.scratch.d_o_panels, p, shape.value_width);
    if (step.has_pairs()) {
        PairScratch const& pairs = step.scratch.pairs;
        load_panel_pairs(step, tensors[Port::Q], queries, shape.width,
                         step.in_panels(pairs.q_panels, p, step.run.tile.pairs_of(shape.width)));
        load_panel_pairs(step, tensors[Port::DO], queries, shape.value_width,
                         step.in_panels(pairs.d_o_panels, p, step.run.tile.pairs_of(shape.value_width)));
    } else {
        load_panel(step, tensors[Port::Q], queries, shape.width, q);
        scale(q, lanes * shape.width, step.problem.scale);
    }
    load_panel(step, tensors[Port::DO], queries, shape.value_width, d_o);
    load_panel(step, tensors[Port::O], queries, shape.value_width, step.scratch.o_panel);
    dot_columns(d_o, step.scratch.o_panel, shape.value_width, lanes, step.scratch.row_dots + p * lanes);
    Slice const stats = transposed(slice_of(tensors[Port::Stats], step.region.b, step.h, queries.begin, 0));
    load_tile(stats, {step.scratch.stats + p * lanes, lanes, 1, queries.size()}, lanes);
    scale(step.scratch.stats + p * lanes, lanes, step.problem.log_of_base);
}

void load_queries(QueryBlock const& step) {
    AttentionShape const& shape = step.run.shape;
    for (std::int64_t p = 0; p < step.panels(); ++p) load_query_panel(step, p);
    Range const present{step.queries.begin, std::min(step.queries.end, step.sequence.queries)};
    WantedGradients const& wanted = step.region.wanted;
    DataView const &q = step.run.tensors[Port::Q], &d_o = step.run.tensors[Port::DO];
    std::int64_t const q_stride = step.run.lane_padded(shape.width);
    if (step.has_pairs()) {
        if (wanted.d_k) load_row_pairs(step, q, present, shape.width, step.scratch.pairs.q_rows);
        if (wanted.d_v) load_row_pairs(step, d_o, present, shape.value_width, step.scratch.pairs.d_o_rows);
    }
    if (step.has_floats()) {
        if (wanted.d_k) load_rows(step, q, present, shape.width, step.scratch.q);
        if (wanted.d_k && !step.has_pairs()) scale(step.scratch.q, present.size() * q_stride, step.problem.scale);
        if (wanted.d_v) load_rows(step, d_o, present, shape.value_width, step.scratch.d_o);
    }
    if (step.region.wanted.d_q) {
        float* const d_q = step.scratch.d_q_panels;
        std::fill(d_q, d_q + step.run.block * step.run.row_padded(shape.width), 0.0f);
    }
}

// Rows of K or V as the left-hand side of a product over the width.
void load_column_pairs(QueryBlock const& step, Slice const& rows, Range keys, std::int64_t width,
                       std::uint32_t* pairs) {
    TileSizes const& tile = step.run.tile;
    if (step.run.has_pairs_in_rows())
        load_pairs_in_rows(rows, {pairs, tile.pairs_of(width), keys.size(), width}, tile.padded_rows(keys.size()));
    else load_pairs_of_columns(rows, {pairs, tile.keys, keys.size(), width}, tile.keys);
}

// Rows of K as the left-hand side of a product over keys.
void load_key_row_pairs(QueryBlock const& step, Slice const& k, std::int64_t keys) {
    BackwardRun const& run = step.run;
    std::uint32_t* const rows = step.scratch.pairs.k_rows;
    std::int64_t const stride = run.row_padded(run.shape.width), pairs = (keys + 1) / 2,
                       depth = run.tile.pairs_of(keys);
    load_pairs_of_rows(k, {rows, stride, keys, run.shape.width}, stride);
    if (step.region.is_careful) {
        clear_not_finite(rows, pairs * stride);
        load_tile(k, {step.scratch.k, stride, keys, run.shape.width}, stride);
    }
    if (!run.has_pairs_in_rows()) return;
    std::fill(rows + pairs * stride, rows + depth * stride, 0);
    run.pairs->transpose({rows, stride, depth, stride, step.scratch.pairs.k_transposed, run.tile.keys / 2});
}

void load_keys(QueryBlock const& step, Range keys) {
    AttentionTensors const& tensors = step.run.tensors;
    AttentionShape const& shape = step.run.shape;
    Slice const k = slice_of(tensors[Port::K], step.region.b, shape.key_head(step.h), keys.begin, 0);
    Slice const v = slice_of(tensors[Port::V], step.region.b, shape.value_head(step.h), keys.begin, 0);
    if (step.has_pairs()) {
        load_column_pairs(step, k, keys, shape.width, step.scratch.pairs.k_columns);
        load_column_pairs(step, v, keys, shape.value_width, step.scratch.pairs.v_columns);
        if (step.region.wanted.d_q) load_key_row_pairs(step, k, keys.size());
        return;
    }
    std::int64_t const stride = step.run.row_padded(shape.width), all = step.run.tile.keys;
    load_tile(transposed(k), {step.scratch.k_columns, all, shape.width, keys.size()}, all);
    load_tile(transposed(v), {step.scratch.v_columns, all, shape.value_width, keys.size()}, all);
    if (step.region.wanted.d_q) load_tile(k, {step.scratch.k, stride, keys.size(), shape.width}, stride);
}

// Columns of K or V, and panels of Q or dO, in both forms.
struct PanelFactors {
    std::uint32_t const *pair_columns, *pair_panels;
    float const *columns, *panels;
    std::int64_t width;
    float scale;  // of pairs: panels of floats have it
};

// The products of a panel with so many rows of K or V.
void multiply_panel(QueryBlock const& step, std::int64_t p, std::int64_t rows, PanelFactors const& of, float* tile) {
    std::int64_t const lanes = step.run.lanes();
    if (step.has_pairs()) {
        std::int64_t const depth = step.run.tile.pairs_of(of.width);
        std::int64_t const stride = step.run.has_pairs_in_rows() ? depth : step.run.tile.keys;
        std::uint32_t const* const panel = step.in_panels(of.pair_panels, p, depth);
        step.run.pairs->multiply({of.pair_columns, stride, panel, lanes, tile, lanes, rows, lanes, depth}, of.scale);
    } else {
        float const* const panel = step.in_panels(of.panels, p, of.width);
        step.run.kernels.multiply({of.columns, step.run.tile.keys, panel, lanes, tile, lanes, rows, lanes, of.width});
    }
}

// Replaces the scores by P (with dropout) and the gradients by dS. Rows up to the next register block are cleared.
void differentiate_scores(QueryBlock const& step, std::int64_t p, ScorePlace const& place) {
    BackwardScratch const& scratch = step.scratch;
    Kernels const& kernels = step.run.kernels;
    std::int64_t const lanes = step.run.lanes(), keys = place.keys.size(), rows = step.run.row_padded(keys);
    PairScratch const& pairs = scratch.pairs;
    multiply_panel(step, p, rows,
                   {pairs.k_columns, pairs.q_panels, scratch.k_columns, scratch.q_panels, step.run.shape.width,
                    step.problem.scale},
                   scratch.scores);
    if (step.run.modifier)
        step.run.modifier.run(ScoreProgram::Pass::Scores, kernels, place, scratch.modifier, scratch.scores);
    finish_scores(step.problem, step.sequence, place, lanes, scratch.scores, scratch.spare);
    kernels.probabilities(scratch.scores, keys, scratch.stats + p * lanes, step.region.is_careful);

    multiply_panel(
        step, p, rows,
        {pairs.v_columns, pairs.d_o_panels, scratch.v_columns, scratch.d_o_panels, step.run.shape.value_width, 1.0f},
        scratch.gradients);
    bool const dropout = step.problem.has_dropout();
    if (dropout) load_dropout_mask(step.problem, kernels, place, scratch.spare);
    kernels.score_gradients(
        scratch.scores, scratch.gradients, keys,
        {dropout ? scratch.spare : nullptr, step.problem.dropout_scale, scratch.row_dots + p * lanes});
    std::fill(scratch.scores + keys * lanes, scratch.scores + rows * lanes, 0.0f);
    std::fill(scratch.gradients + keys * lanes, scratch.gradients + rows * lanes, 0.0f);
}

// The gradient of K or V: products of a tile of scores with rows of the block's queries.
struct KeyGradient {
    float* tile;
    std::uint32_t* tile_pairs;  // of all panels, where the layout is RowMajor
    float const* rows;
    std::uint32_t const* row_pairs;
    std::int64_t width, head;
    float* sums;
};

KeyGradient gradient_of_values(QueryBlock const& step) {
    AttentionShape const& shape = step.run.shape;
    BackwardScratch const& scratch = step.scratch;
    std::int64_t const head = shape.value_head(step.h) - shape.value_head(step.region.heads.begin);
    return {scratch.scores, scratch.pairs.weights, scratch.d_o, scratch.pairs.d_o_rows, shape.value_width, head,
            scratch.d_v};
}

KeyGradient gradient_of_keys(QueryBlock const& step) {
    AttentionShape const& shape = step.run.shape;
    BackwardScratch const& scratch = step.scratch;
    std::int64_t const head = shape.key_head(step.h) - shape.key_head(step.region.heads.begin);
    return {scratch.gradients, scratch.pairs.gradients, scratch.q, scratch.pairs.q_rows, shape.width, head,
            scratch.d_k};
}

// The sums of a key and those after it.
float* sums_of(QueryBlock const& step, KeyGradient const& gradient, std::int64_t key) {
    std::int64_t const row =
        gradient.head * step.run.key_padded(step.region.keys.size()) + key - step.region.keys.begin;
    return gradient.sums + row * step.run.lane_padded(gradient.width);
}

// Adds the products with infinities and NaN among the rows, which their pairs have no more.
void add_not_finite_rows(QueryBlock const& step, ScorePlace const& place, KeyGradient const& gradient) {
    std::int64_t const stride = step.run.lane_padded(gradient.width), lanes = step.run.lanes();
    float const* const rows = gradient.rows + (place.queries.begin - step.queries.begin) * stride;
    float* const sums = sums_of(step, gradient, place.keys.begin);
    for (std::int64_t lane = 0; lane < place.queries.size(); ++lane) {
        for (std::int64_t column = 0; column < gradient.width; ++column) {
            float const number = rows[lane * stride + column];
            if (std::isfinite(number)) continue;
            for (std::int64_t key = 0; key < place.keys.size(); ++key) {
                float const weight = gradient.tile[key * lanes + lane];
                if (weight != 0.0f) sums[key * stride + column] += weight * number;
            }
        }
    }
}

// Lanes without a query, as far as a product over queries reads them.
void clear_missing_queries(QueryBlock const& step, ScorePlace const& place, float* tile) {
    std::int64_t const lanes = step.run.lanes(), first = place.queries.size();
    std::int64_t const end = 2 * step.run.tile.pairs_of(first);
    for (std::int64_t key = 0; key < step.run.row_padded(place.keys.size()) && first < end; ++key)
        std::fill(tile + key * lanes + first, tile + key * lanes + end, 0.0f);
}

// Rounds a panel's tile to pairs, which add_key_gradients_of_panels() multiplies.
void keep_tile(QueryBlock const& step, std::int64_t p, std::int64_t keys, ScorePlace const& place,
               KeyGradient const& gradient) {
    std::int64_t const pairs = step.run.lanes() / 2, stride = step.run.block / 2;
    std::int64_t const rows = step.run.row_padded(place.keys.size());
    std::uint32_t* const kept = gradient.tile_pairs + p * pairs;
    step.run.pairs->pair_lanes(gradient.tile, rows, kept, stride);
    for (std::int64_t key = rows; key < step.run.row_padded(keys); ++key) std::fill_n(kept + key * stride, pairs, 0);
}

// sum += tile * rows, for one panel.
void add_key_gradients(QueryBlock const& step, ScorePlace const& place, KeyGradient const& gradient) {
    BackwardRun const& run = step.run;
    std::int64_t const stride = run.lane_padded(gradient.width), rows = run.row_padded(place.keys.size());
    std::int64_t const query = place.queries.begin - step.queries.begin;
    float* const to = sums_of(step, gradient, place.keys.begin);
    if (step.has_pairs()) {
        std::uint32_t* const pairs = step.scratch.pairs.tile;
        run.pairs->pair_lanes(gradient.tile, rows, pairs, run.lanes() / 2);
        run.pairs->multiply_tile({pairs, run.lanes() / 2, gradient.row_pairs + query / 2 * stride, stride, to, stride,
                                  rows, stride, run.tile.pairs_of(place.queries.size())});
    } else {
        run.kernels.multiply_tile({gradient.tile, 0, gradient.rows + query * stride, stride, to, stride, rows, stride,
                                   place.queries.size(), step.region.is_careful});
    }
}

// The same for all panels of a range at once, whose tiles were kept.
void add_key_gradients_of_panels(QueryBlock const& step, Range keys, Range panels, KeyGradient const& gradient) {
    BackwardRun const& run = step.run;
    std::int64_t const stride = run.lane_padded(gradient.width), pairs = run.lanes() / 2;
    float* const to = sums_of(step, gradient, keys.begin);
    run.pairs->multiply_tile({gradient.tile_pairs + panels.begin * pairs, run.block / 2,
                              gradient.row_pairs + panels.begin * pairs * stride, stride, to, stride,
                              run.row_padded(keys.size()), stride, panels.size() * pairs});
}

void add_query_gradients(QueryBlock const& step, std::int64_t p, std::int64_t keys) {
    static constexpr auto kOnes = [] {
        std::array<float, kMaxLanes> ones;
        ones.fill(1.0f);
        return ones;
    }();
    BackwardScratch const& scratch = step.scratch;
    std::int64_t const lanes = step.run.lanes(), rows = step.run.row_padded(step.run.shape.width);
    float* const d_q = step.in_panels(scratch.d_q_panels, p, rows);
    if (step.has_pairs()) {
        bool const is_in_rows = step.run.has_pairs_in_rows();
        std::uint32_t const* const k = is_in_rows ? scratch.pairs.k_transposed : scratch.pairs.k_rows;
        std::int64_t const stride = is_in_rows ? step.run.tile.keys / 2 : rows;
        step.run.pairs->pair_rows(scratch.gradients, keys, scratch.pairs.tile);
        step.run.pairs->rescale_and_multiply(
            {k, stride, scratch.pairs.tile, lanes, d_q, lanes, rows, lanes, step.run.tile.pairs_of(keys)},
            kOnes.data());
        if (step.region.is_careful)
            add_not_finite({scratch.k, rows, keys, step.run.shape.width}, scratch.gradients, lanes, d_q);
    } else {
        step.run.kernels.rescale_and_multiply(
            {scratch.k, rows, scratch.gradients, lanes, d_q, lanes, rows, lanes, keys, step.region.is_careful},
            kOnes.data());
    }
}

void add_bias_gradients(QueryBlock const& step, ScorePlace const& place) {
    BiasSum const& sum = step.scratch.d_bias;
    for (std::int64_t key = 0; key < place.keys.size(); ++key) {
        float const* const row = step.scratch.gradients + key * step.run.lanes();
        double* const to = sum.data + (place.keys.begin - step.region.keys.begin + key) * sum.key_step +
                           (place.queries.begin - step.region.queries.begin) * sum.query_step;
        for (std::int64_t lane = 0; lane < place.queries.size(); ++lane) to[lane * sum.query_step] += double{row[lane]};
    }
}

// The gradients of the scores before the modifier. A gradient of 0, such as a masked score has, stays 0.
void differentiate_modifier(QueryBlock const& step, ScorePlace const& place) {
    BackwardScratch const& scratch = step.scratch;
    std::int64_t const count = place.keys.size() * step.run.lanes();
    float* const gradients = scratch.gradients;
    std::copy_n(gradients, count, scratch.spare);
    step.run.modifier.run(ScoreProgram::Pass::Gradients, step.run.kernels, place, scratch.modifier, gradients);
    for (std::int64_t i = 0; i < count; ++i) gradients[i] = scratch.spare[i] == 0.0f ? 0.0f : gradients[i];
}

// Adds a panel's part to the gradients of keys and values, or keeps it for the product of all panels.
void visit_key_gradient(QueryBlock const& step, std::int64_t p, Range tile, ScorePlace const& place,
                        KeyGradient const& gradient) {
    if (step.has_pairs()) clear_missing_queries(step, place, gradient.tile);
    if (step.run.has_pairs_in_rows()) keep_tile(step, p, tile.size(), place, gradient);
    else add_key_gradients(step, place, gradient);
    if (step.has_pairs() && step.region.is_careful) add_not_finite_rows(step, place, gradient);
}

// Processes one panel against one tile of keys. Returns false if no key is visible to the panel.
bool visit_tile(QueryBlock const& step, std::int64_t p, Range tile) {
    Range const visible = step.sequence.keys_of(step.panel(p));
    Range const keys{tile.begin, std::min(tile.end, visible.end)};
    if (keys.size() == 0 || tile.end <= visible.begin) return false;

    WantedGradients const& wanted = step.region.wanted;
    ScorePlace const place{step.region.b, step.h, step.panel(p), keys};
    differentiate_scores(step, p, place);
    if (wanted.d_bias) add_bias_gradients(step, place);  // the bias is added after the modifier
    if (step.run.modifier.changes_gradients()) differentiate_modifier(step, place);
    if (wanted.d_v) visit_key_gradient(step, p, tile, place, gradient_of_values(step));
    if (wanted.d_k) visit_key_gradient(step, p, tile, place, gradient_of_keys(step));
    if (wanted.d_q) add_query_gradients(step, p, keys.size());
    return true;
}

// Tiles of a panel that sees no key, between those of panels that do.
void keep_zeros(QueryBlock const& step, std::int64_t p, std::int64_t keys, std::uint32_t* tile_pairs) {
    std::int64_t const pairs = step.run.lanes() / 2, stride = step.run.block / 2;
    for (std::int64_t key = 0; key < step.run.row_padded(keys); ++key)
        std::fill_n(tile_pairs + key * stride + p * pairs, pairs, 0);
}

// Processes the block against one tile of keys.
void visit_tiles(QueryBlock const& step, Range tile, HiddenTiles const& hidden) {
    WantedGradients const& wanted = step.region.wanted;
    PairScratch const& pairs = step.scratch.pairs;
    Range visited{0, 0};  // panels, with those between them
    for (std::int64_t p = 0; p < step.panels(); ++p) {
        bool const is_visited = !hidden.hides(p) && visit_tile(step, p, tile);
        if (is_visited) visited = {visited.size() == 0 ? p : visited.begin, p + 1};
        else if (step.run.has_pairs_in_rows() && wanted.d_v) keep_zeros(step, p, tile.size(), pairs.weights);
        if (!is_visited && step.run.has_pairs_in_rows() && wanted.d_k)
            keep_zeros(step, p, tile.size(), pairs.gradients);
    }
    if (visited.size() == 0 || !step.run.has_pairs_in_rows()) return;
    if (wanted.d_v) add_key_gradients_of_panels(step, tile, visited, gradient_of_values(step));
    if (wanted.d_k) add_key_gradients_of_panels(step, tile, visited, gradient_of_keys(step));
}

// Queries past the sequence's length get dQ = 0 if dQ has memory for them.
void store_query_gradients(QueryBlock const& step) {
    std::int64_t const lanes = step.run.lanes(), width = step.run.shape.width;
    for (std::int64_t p = 0; p < step.panels(); ++p) {
        std::array<float, kMaxLanes> factors{};
        std::fill_n(factors.begin(), step.panel(p).size(), step.problem.scale);
        float* const panel = step.in_panels(step.scratch.d_q_panels, p, step.run.row_padded(width));
        step.run.kernels.scale_lanes(panel, width, factors.data());
        std::int64_t const first = step.queries.begin + p * lanes;
        Slice const to = slice_of(step.run.tensors[Port::DQ], step.region.b, step.h, first, 0);
        bool const is_ragged{step.run.tensors[Port::DQ].starts};
        std::int64_t const rows = is_ragged ? step.panel(p).size() : std::min(lanes, step.queries.end - first);
        store_tile({panel, lanes, width, rows}, transposed(to));
    }
}

bool has_nan_in_query_gradients(QueryBlock const& step) {
    if (!step.region.wanted.d_q) return false;
    return step.run.kernels.holds_nan(step.scratch.d_q_panels,
                                      step.run.block * step.run.row_padded(step.run.shape.width));
}

void take_step(QueryBlock const& step) {
    load_queries(step);
    Range const visible =
        step.sequence.keys_of({step.queries.begin, std::min(step.queries.end, step.sequence.queries)});
    std::int64_t const begin =
        std::max(step.region.keys.begin, visible.begin / step.run.tile.keys * step.run.tile.keys);
    std::int64_t const end = std::min(step.region.keys.end, visible.end);
    HiddenTiles hidden(step.run.modifier, step.region.b, step.h, step.queries, step.run.lanes(), step.scratch.hidden);
    for (std::int64_t key = begin; key < end; key += step.run.tile.keys) {
        Range const tile{key, std::min(key + step.run.tile.keys, end)};
        hidden.set_keys(tile);
        if (hidden.hides_all()) continue;
        load_keys(step, tile);
        visit_tiles(step, tile, hidden);
    }
}

// The gradient of K or V for the heads that the region's query heads share.
struct KeySum {
    DataView view;
    Range heads;
    std::int64_t width, stride, span;
    float* data;

    std::int64_t size() const { return heads.size() * span * stride; }
};

KeySum key_sum(BackwardRun const& run, Region const& region, BackwardScratch const& scratch) {
    Range const heads{run.shape.key_head(region.heads.begin), run.shape.key_head(region.heads.end - 1) + 1};
    return {run.tensors[Port::DK],
            heads,
            run.shape.width,
            run.lane_padded(run.shape.width),
            run.key_padded(region.keys.size()),
            scratch.d_k};
}

KeySum value_sum(BackwardRun const& run, Region const& region, BackwardScratch const& scratch) {
    Range const heads{run.shape.value_head(region.heads.begin), run.shape.value_head(region.heads.end - 1) + 1};
    return {run.tensors[Port::DV],
            heads,
            run.shape.value_width,
            run.lane_padded(run.shape.value_width),
            run.key_padded(region.keys.size()),
            scratch.d_v};
}

void clear(KeySum const& sum) { std::fill_n(sum.data, sum.size(), 0.0f); }

// Keys past the sequence's length get 0 if there is memory for them.
void store(KeySum const& sum, Region const& region, Sequence const& sequence) {
    std::int64_t const present = Range{region.keys.begin, std::min(region.keys.end, sequence.keys)}.size();
    for (std::int64_t head = 0; head < sum.heads.size(); ++head) {
        float* const rows = sum.data + head * sum.span * sum.stride;
        std::fill(rows + present * sum.stride, rows + sum.span * sum.stride, 0.0f);
        std::int64_t const stored = sum.view.starts ? present : region.keys.size();
        store_tile({rows, sum.stride, stored, sum.width},
                   slice_of(sum.view, region.b, sum.heads.begin + head, region.keys.begin, 0));
    }
}

// Whether the sums contain NaN. dQ is stored block by block.
bool sum_region(BackwardRun const& run, AttentionProblem const& problem, Region const& region,
                BackwardScratch const& scratch) {
    Sequence const sequence = problem.sequence(region.b);
    KeySum const k = key_sum(run, region, scratch), v = value_sum(run, region, scratch);
    if (region.wanted.d_k) clear(k);
    if (region.wanted.d_v) clear(v);
    bool has_nan = false;
    for (std::int64_t h = region.heads.begin; h < region.heads.end; ++h) {
        for (std::int64_t begin = region.queries.begin; begin < region.queries.end; begin += run.block) {
            Range const queries{begin, std::min(begin + run.block, region.queries.end)};
            QueryBlock const step{run, problem, region, scratch, sequence, h, queries};
            take_step(step);
            has_nan = has_nan || has_nan_in_query_gradients(step);
            if (region.wanted.d_q) store_query_gradients(step);
        }
    }
    if (region.wanted.d_k && run.pairs != nullptr) scale(k.data, k.size(), problem.scale);  // pairs of Q have none
    return has_nan || (region.wanted.d_k && run.kernels.holds_nan(k.data, k.size())) ||
           (region.wanted.d_v && run.kernels.holds_nan(v.data, v.size()));
}

}  // namespace

// NaN can come from 0 times infinity or NaN of a pair of a query and a key that is not visible to it. That is rare;
// only then is the region computed again, skipping zeros, which leaves all other sums as they are. dBias is no sum of
// products.
void walk_region(BackwardRun const& run, AttentionProblem const& problem, Region const& region,
                 BackwardScratch const& scratch) {
    PairScope const scope(run.pairs);
    if (sum_region(run, problem, region, scratch)) {
        Region again = region;
        again.is_careful = true;
        sum_region(run, problem, again, scratch);
    }
    Sequence const sequence = problem.sequence(region.b);
    if (region.wanted.d_k) store(key_sum(run, region, scratch), region, sequence);
    if (region.wanted.d_v) store(value_sum(run, region, scratch), region, sequence);
}

}  // namespace cudnn_frontend::cpu
