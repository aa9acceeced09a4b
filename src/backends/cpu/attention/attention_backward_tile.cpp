#include "cpu/attention/attention_backward.h"
#include "cpu/attention/attention_tile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace cudnn_frontend::cpu {
namespace {

// A panel of the block with the tile's keys.
struct PanelTile {
    QueryBlock const& step;
    std::int64_t p;
    ScorePlace place;   // with the keys that are visible to the panel
    std::int64_t rows;  // of pairs of lanes: more than keys, where products have all panels of the block

    std::int64_t keys() const { return place.keys.size(); }
    // A panel's queries within the block.
    std::int64_t query() const { return place.queries.begin - step.queries.begin; }
    std::uint32_t* kept(std::uint32_t* pairs) const {
        return pairs + (step.run.has_pair_blocks() ? p * PairBlocks::kSize : 0);
    }
    float const* of_lanes(float const* numbers) const { return numbers + p * step.run.lanes(); }
};

// Columns of K or V, and panels of Q or dO, in both forms.
struct PanelFactors {
    std::uint32_t const *pair_columns, *pair_panels;
    float const *columns, *panels;
    std::int64_t width;
    float scale;  // of pairs: panels of floats have it
};

PairProduct pairs_product(QueryBlock const& step, std::int64_t p, std::int64_t rows, PanelFactors const& of,
                          float* tile) {
    std::int64_t const lanes = step.run.lanes(), depth = step.run.tile.pairs_of(of.width);
    std::int64_t const stride = step.run.has_pair_blocks() ? PairBlocks::stride(depth) : step.run.tile.keys;
    return {of.pair_columns, stride, step.in_panels(of.pair_panels, p, depth), lanes, tile, lanes, rows, lanes, depth};
}

// The products of a panel with so many rows of K or V.
void multiply_panel(QueryBlock const& step, std::int64_t p, std::int64_t rows, PanelFactors const& of, float* tile) {
    if (step.has_pairs()) return step.run.pairs->multiply(pairs_product(step, p, rows, of, tile), of.scale);
    std::int64_t const lanes = step.run.lanes();
    float const* const panel = step.in_panels(of.panels, p, of.width);
    step.run.kernels.multiply({of.columns, step.run.tile.keys, panel, lanes, tile, lanes, rows, lanes, of.width});
}

PanelFactors factors_of_scores(QueryBlock const& step, float scale) {
    BackwardScratch const& scratch = step.scratch;
    return {scratch.pairs.k_columns, scratch.pairs.q_panels, scratch.k_columns,
            scratch.q_panels,        step.run.shape.width,   scale};
}
PanelFactors factors_of_gradients(QueryBlock const& step) {
    BackwardScratch const& scratch = step.scratch;
    return {scratch.pairs.v_columns, scratch.pairs.d_o_panels,   scratch.v_columns,
            scratch.d_o_panels,      step.run.shape.value_width, 1.0f};
}

// The scores, times `scale` if they are products of pairs, and the gradients of P.
void compute_tiles(PanelTile const& tile, float scale) {
    QueryBlock const& step = tile.step;
    BackwardScratch const& scratch = step.scratch;
    std::int64_t const rows = step.run.row_padded(tile.keys());
    multiply_panel(step, tile.p, rows, factors_of_scores(step, scale), scratch.scores);
    if (step.run.modifier) {
        step.run.modifier.run(ScoreProgram::Pass::Scores, step.run.kernels, tile.place, scratch.modifier,
                              scratch.scores);
    }
    finish_scores(step.problem, step.sequence, tile.place, step.run.lanes(), scratch.scores, scratch.spare);
    multiply_panel(step, tile.p, rows, factors_of_gradients(step), scratch.gradients);
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

// Replaces the scores by P (with dropout) and the gradients by dS. Rows after the keys are cleared.
void differentiate_scores(PanelTile const& tile) {
    QueryBlock const& step = tile.step;
    BackwardScratch const& scratch = step.scratch;
    Kernels const& kernels = step.run.kernels;
    std::int64_t const lanes = step.run.lanes(), keys = tile.keys();
    kernels.probabilities(scratch.scores, keys, tile.of_lanes(scratch.stats), step.region.is_careful);
    bool const dropout = step.problem.has_dropout();
    if (dropout) load_dropout_mask(step.problem, kernels, tile.place, scratch.spare);
    kernels.score_gradients(
        scratch.scores, scratch.gradients, keys,
        {dropout ? scratch.spare : nullptr, step.problem.dropout_scale, tile.of_lanes(scratch.row_dots)});
    std::fill(scratch.scores + keys * lanes, scratch.scores + tile.rows * lanes, 0.0f);
    std::fill(scratch.gradients + keys * lanes, scratch.gradients + tile.rows * lanes, 0.0f);
    if (step.region.wanted.d_bias) add_bias_gradients(step, tile.place);  // the bias is added after the modifier
    if (step.run.modifier.changes_gradients()) differentiate_modifier(step, tile.place);
}

// Lanes without a query: products over queries have them.
void clear_missing_queries(PanelTile const& tile, float* numbers) {
    std::int64_t const lanes = tile.step.run.lanes(), first = tile.place.queries.size();
    for (std::int64_t row = 0; row < tile.rows && first < lanes; ++row)
        std::fill(numbers + row * lanes + first, numbers + (row + 1) * lanes, 0.0f);
}

void round_to_pairs(PanelTile const& tile) {
    QueryBlock const& step = tile.step;
    BackwardScratch const& scratch = step.scratch;
    PairKernels const& kernels = *step.run.pairs;
    std::int64_t const stride = step.run.kept_stride();
    if (step.region.wanted.d_v) {
        clear_missing_queries(tile, scratch.scores);
        kernels.pair_lanes(scratch.scores, tile.rows, tile.kept(scratch.pairs.weights), stride);
    }
    if (step.region.wanted.d_k) {
        clear_missing_queries(tile, scratch.gradients);
        kernels.pair_lanes(scratch.gradients, tile.rows, tile.kept(scratch.pairs.gradients), stride);
    }
    if (step.region.wanted.d_q) kernels.pair_rows(scratch.gradients, tile.keys(), scratch.pairs.gradients_by_rows);
}

// Whether P and dS are needed as pairs alone: a careful region gets tiles from them, so that both have the same bits.
bool needs_pairs_alone(PanelTile const& tile) {
    QueryBlock const& step = tile.step;
    return step.has_pairs() && !step.problem.has_dropout() && !step.region.wanted.d_bias &&
           !step.run.modifier.changes_gradients() && tile.place.queries.size() == step.run.lanes();
}

// Computes the pairs of P and dS from scores times `scale` and the gradients of P.
GradientPairs gradient_pairs(PanelTile const& tile, float scale, std::uint32_t* by_rows) {
    QueryBlock const& step = tile.step;
    BackwardScratch const& scratch = step.scratch;
    WantedGradients const& wanted = step.region.wanted;
    bool const is_careful = step.region.is_careful;
    return {scratch.scores,
            scratch.gradients,
            tile.keys(),
            tile.rows,
            scale,
            is_careful,
            tile.of_lanes(scratch.stats),
            tile.of_lanes(scratch.row_dots),
            wanted.d_v || is_careful ? tile.kept(scratch.pairs.weights) : nullptr,
            wanted.d_k || is_careful ? tile.kept(scratch.pairs.gradients) : nullptr,
            wanted.d_q ? by_rows : nullptr,
            step.run.kept_stride(),
            {}};
}

// P and dS as pairs; in a careful region also as tiles.
void compute_pairs(PanelTile const& tile) {
    QueryBlock const& step = tile.step;
    BackwardScratch const& scratch = step.scratch;
    bool const is_later = step.problem.has_plain_scores();
    float const scale = step.problem.scale;
    compute_tiles(tile, is_later ? 1.0f : scale);
    GradientPairs const pairs = gradient_pairs(tile, is_later ? scale : 1.0f, scratch.pairs.gradients_by_rows);
    step.run.pairs->score_gradients(pairs);
    if (!step.region.is_careful) return;
    std::int64_t const lanes = step.run.lanes();
    unpack_pairs_of_lanes(pairs.weights_by_lanes, pairs.stride, tile.keys(), lanes, scratch.scores);
    unpack_pairs_of_lanes(pairs.gradients_by_lanes, pairs.stride, tile.keys(), lanes, scratch.gradients);
}

// P and dS as tiles, and as pairs where products have these.
void compute_weights(PanelTile const& tile) {
    if (needs_pairs_alone(tile)) return compute_pairs(tile);
    compute_tiles(tile, tile.step.problem.scale);
    differentiate_scores(tile);
    if (tile.step.has_pairs()) round_to_pairs(tile);
}

// The gradient of K or V: products of P or dS with rows of the block's queries.
struct KeyGradient {
    float const* tile;
    std::uint32_t* tile_pairs;
    float const* rows;
    std::uint32_t const* row_pairs;
    std::int64_t width, head;
    float* sums;
};

KeyGradient gradient_of_values(QueryBlock const& step) {
    AttentionShape const& shape = step.run.shape;
    BackwardScratch const& scratch = step.scratch;
    return {scratch.scores,    scratch.pairs.weights,
            scratch.d_o,       scratch.pairs.d_o_rows,
            shape.value_width, shape.value_head(step.h) - shape.value_head(step.region.heads.begin),
            scratch.d_v};
}

KeyGradient gradient_of_keys(QueryBlock const& step) {
    AttentionShape const& shape = step.run.shape;
    BackwardScratch const& scratch = step.scratch;
    return {scratch.gradients, scratch.pairs.gradients,
            scratch.q,         scratch.pairs.q_rows,
            shape.width,       shape.key_head(step.h) - shape.key_head(step.region.heads.begin),
            scratch.d_k};
}

// The sums of a key and those after it.
float* sums_of(QueryBlock const& step, KeyGradient const& gradient, std::int64_t key) {
    Range const keys = step.region.keys;
    std::int64_t const row = gradient.head * step.run.key_padded(keys.size()) + key - keys.begin;
    return gradient.sums + row * step.run.lane_padded(gradient.width);
}

// sum += tile * rows.
void add_floats(PanelTile const& tile, KeyGradient const& gradient) {
    BackwardRun const& run = tile.step.run;
    std::int64_t const stride = run.lane_padded(gradient.width);
    run.kernels.multiply_tile({gradient.tile, 0, gradient.rows + tile.query() * stride, stride,
                               sums_of(tile.step, gradient, tile.place.keys.begin), stride, tile.rows, stride,
                               tile.place.queries.size(), tile.step.region.is_careful});
}

// The same with pairs, of a range of panels.
void add_pairs(QueryBlock const& step, Range panels, Range keys, KeyGradient const& gradient) {
    BackwardRun const& run = step.run;
    std::int64_t const stride = run.lane_padded(gradient.width), pairs = run.lanes() / 2;
    std::uint32_t const* const kept =
        gradient.tile_pairs + (run.has_pair_blocks() ? panels.begin * PairBlocks::kSize : 0);
    run.pairs->multiply_tile({kept, run.kept_stride(), gradient.row_pairs + panels.begin * pairs * run.lanes(),
                              run.lanes(), sums_of(step, gradient, keys.begin), stride, run.row_padded(keys.size()),
                              stride, panels.size() * pairs, run.row_block()});
}

// Adds the products with infinities and NaN among the rows, which their pairs have no more.
void add_not_finite_rows(PanelTile const& tile, KeyGradient const& gradient) {
    std::int64_t const stride = tile.step.run.lane_padded(gradient.width), lanes = tile.step.run.lanes();
    float const* const rows = gradient.rows + tile.query() * stride;
    float* const sums = sums_of(tile.step, gradient, tile.place.keys.begin);
    for (std::int64_t lane = 0; lane < tile.place.queries.size(); ++lane) {
        for (std::int64_t column = 0; column < gradient.width; ++column) {
            float const number = rows[lane * stride + column];
            if (std::isfinite(number)) continue;
            for (std::int64_t key = 0; key < tile.keys(); ++key) {
                float const weight = gradient.tile[key * lanes + lane];
                if (weight != 0.0f) sums[key * stride + column] += weight * number;
            }
        }
    }
}

// Adds a panel's part to the gradients of keys or values, except what is kept for the product of all panels.
void add_key_gradient(PanelTile const& tile, KeyGradient const& gradient) {
    QueryBlock const& step = tile.step;
    if (!step.has_pairs()) return add_floats(tile, gradient);
    if (!step.run.has_pair_blocks()) add_pairs(step, {tile.p, tile.p + 1}, tile.place.keys, gradient);
    if (step.region.is_careful) add_not_finite_rows(tile, gradient);
}

// The product that pairs of dS in rows add to a panel of dQ.
PairProduct query_gradient_product(PanelTile const& tile, std::uint32_t const* by_rows) {
    QueryBlock const& step = tile.step;
    PairScratch const& pairs = step.scratch.pairs;
    std::int64_t const lanes = step.run.lanes(), rows = step.run.row_padded(step.run.shape.width);
    bool const is_in_blocks = step.run.has_pair_blocks();
    return {is_in_blocks ? pairs.k_transposed : pairs.k_rows,
            is_in_blocks ? PairBlocks::stride(step.run.tile.keys / 2) : rows,
            by_rows,
            lanes,
            step.in_panels(step.scratch.d_q_panels, tile.p, rows),
            lanes,
            rows,
            lanes,
            step.run.tile.pairs_of(tile.keys())};
}

void add_query_gradient(PanelTile const& tile) {
    static constexpr auto kOnes = [] {
        std::array<float, kMaxLanes> ones;
        ones.fill(1.0f);
        return ones;
    }();
    QueryBlock const& step = tile.step;
    BackwardScratch const& scratch = step.scratch;
    std::int64_t const lanes = step.run.lanes(), rows = step.run.row_padded(step.run.shape.width), keys = tile.keys();
    float* const d_q = step.in_panels(scratch.d_q_panels, tile.p, rows);
    if (step.has_pairs()) {
        step.run.pairs->rescale_and_multiply(query_gradient_product(tile, scratch.pairs.gradients_by_rows),
                                             kOnes.data());
        if (step.region.is_careful)
            add_not_finite({scratch.k, rows, keys, step.run.shape.width}, scratch.gradients, lanes, d_q);
    } else {
        step.run.kernels.rescale_and_multiply(
            {scratch.k, rows, scratch.gradients, lanes, d_q, lanes, rows, lanes, keys, step.region.is_careful},
            kOnes.data());
    }
}

// The keys of a tile that are visible to a panel.
Range keys_of_panel(QueryBlock const& step, std::int64_t p, Range tile) {
    Range const visible = step.sequence.keys_of(step.panel(p));
    if (tile.end <= visible.begin || visible.end <= tile.begin) return {tile.begin, tile.begin};
    return {tile.begin, std::min(tile.end, visible.end)};
}

PanelTile panel_tile(QueryBlock const& step, std::int64_t p, Range tile, Range keys) {
    std::int64_t const rows = step.run.row_padded(step.run.has_pair_blocks() ? tile.size() : keys.size());
    return {step, p, {step.region.b, step.h, step.panel(p), keys}, rows};
}

// Returns false if no key is visible to the panel.
bool visit_panel(QueryBlock const& step, std::int64_t p, Range tile) {
    Range const keys = keys_of_panel(step, p, tile);
    if (keys.size() == 0) return false;
    PanelTile const panel = panel_tile(step, p, tile, keys);
    compute_weights(panel);
    if (step.region.wanted.d_v) add_key_gradient(panel, gradient_of_values(step));
    if (step.region.wanted.d_k) add_key_gradient(panel, gradient_of_keys(step));
    if (step.region.wanted.d_q) add_query_gradient(panel);
    return true;
}

// The pairs of a panel to which no key is visible, between panels of which this is not true.
void keep_zeros(QueryBlock const& step, std::int64_t p, std::int64_t rows) {
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t const at = PairBlocks::row(row, step.run.kept_stride()) + p * PairBlocks::kSize;
        std::fill_n(step.scratch.pairs.weights + at, PairBlocks::kPairs, 0);
        std::fill_n(step.scratch.pairs.gradients + at, PairBlocks::kPairs, 0);
    }
}

// Whether the matrix unit computes products for one panel while the processor computes P and dS of another.
bool takes_turns(QueryBlock const& step) {
    return step.run.has_pair_blocks() && step.problem.has_plain_scores() && !step.problem.has_dropout() &&
           !step.region.wanted.d_bias && !step.region.is_careful;
}

// The panels before `end` to which keys of a tile are visible.
struct VisiblePanels {
    QueryBlock const& step;
    Range tile;
    std::int64_t end;

    // The first one from p on; `end` if there is none.
    std::int64_t from(std::int64_t p) const {
        while (p < end && keys_of_panel(step, p, tile).size() == 0) ++p;
        return p;
    }
    PanelTile at(std::int64_t p) const { return panel_tile(step, p, tile, keys_of_panel(step, p, tile)); }
};

// Visits the panels in which every lane has a query. The products for dQ come a turn after those for the other
// gradients.
void visit_in_turns(VisiblePanels const& panels) {
    QueryBlock const& step = panels.step;
    BackwardScratch const& scratch = step.scratch;
    BackwardRun const& run = step.run;
    auto const products = [&](std::int64_t p) {
        std::int64_t const rows = run.row_padded(keys_of_panel(step, p, panels.tile).size());
        return ProductsMeanwhile{{pairs_product(step, p, rows, factors_of_scores(step, 1.0f), scratch.scores),
                                  pairs_product(step, p, rows, factors_of_gradients(step), scratch.gradients)},
                                 {}};
    };
    std::array<std::uint32_t*, 2> by_rows{scratch.pairs.gradients_by_rows,
                                          scratch.pairs.gradients_by_rows + run.tile.keys / 2 * run.lanes()};
    PairProduct added{};
    std::int64_t p = panels.from(0);
    if (p < panels.end) {
        for (PairProduct const& product : products(p).assigned) run.pairs->multiply(product, 1.0f);
    }
    while (p < panels.end) {
        PanelTile const tile = panels.at(p);
        finish_scores(step.problem, step.sequence, tile.place, run.lanes(), scratch.scores, nullptr);
        std::int64_t const next = panels.from(p + 1);
        GradientPairs pairs = gradient_pairs(tile, step.problem.scale, by_rows[0]);
        if (next < panels.end) pairs.meanwhile = products(next);
        pairs.meanwhile.added = added;
        run.pairs->score_gradients(pairs);
        if (step.region.wanted.d_q) added = query_gradient_product(tile, by_rows[0]);
        std::swap(by_rows[0], by_rows[1]);
        p = next;
    }
    if (added.rows > 0) run.pairs->multiply_tile(added);
}

}  // namespace

void visit_tile(QueryBlock const& block, Range tile, HiddenTiles const& hidden) {
    bool const adds_later = block.run.has_pair_blocks();
    std::int64_t in_turns = 0;
    if (takes_turns(block)) {
        Range const present{block.queries.begin, std::min(block.queries.end, block.sequence.queries)};
        in_turns = present.size() / block.run.lanes();
        visit_in_turns({block, tile, in_turns});
    }
    Range visited{0, 0};  // panels, with those between them
    for (std::int64_t p = 0; p < block.panels(); ++p) {
        bool const is_visible =
            p < in_turns ? keys_of_panel(block, p, tile).size() > 0 : !hidden.hides(p) && visit_panel(block, p, tile);
        if (is_visible) visited = {visited.size() == 0 ? p : visited.begin, p + 1};
        else if (adds_later) keep_zeros(block, p, block.run.row_padded(tile.size()));
    }
    if (!adds_later || visited.size() == 0) return;
    if (block.region.wanted.d_v) add_pairs(block, visited, tile, gradient_of_values(block));
    if (block.region.wanted.d_k) add_pairs(block, visited, tile, gradient_of_keys(block));
}

}  // namespace cudnn_frontend::cpu
