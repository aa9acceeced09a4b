#include "cpu/attention/attention_backward.h"
#include "cpu/attention/attention_tile.h"
#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace cudnn_frontend::cpu {
namespace {

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
    std::int64_t const lanes = step.run.lanes();
    load_pairs_of_columns(slice_of(view, step.region.b, step.h, queries.begin, 0),
                          {panel, lanes, queries.size(), width}, lanes, step.run.tile.pairs_of(width));
}
void load_row_pairs(QueryBlock const& step, DataView const& view, Range queries, std::int64_t width,
                    std::uint32_t* rows) {
    std::int64_t const lanes = step.run.lanes(), count = queries.size();
    std::int64_t const pairs = (count + 1) / 2, filled = round_up(count, lanes) / 2;
    for (std::int64_t column = 0; column < width; column += lanes, rows += step.run.row_block()) {
        Slice const slice = slice_of(view, step.region.b, step.h, queries.begin, column);
        load_pairs_of_rows(slice, {rows, lanes, count, std::min(lanes, width - column)}, lanes);
        if (step.region.is_careful) clear_not_finite(rows, pairs * lanes);
        std::fill(rows + pairs * lanes, rows + filled * lanes, 0);
    }
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

// Whether a tensor's rows are BFLOAT16 numbers one after the other.
bool has_plain_rows(DataView const& view) {
    return view.type == DataType_t::BFLOAT16 && view.dim[3] > 1 && view.stride[3] == 1;
}

// The product of a row of a and a row of b.
float dot_rows(std::uint16_t const* a, std::uint16_t const* b, std::int64_t width) {
    constexpr std::int64_t kSums = 16;  // so that vectors hold them
    std::array<float, kSums> sums{};
    std::int64_t column = 0;
    for (; column + kSums <= width; column += kSums) {
        for (std::int64_t i = 0; i < kSums; ++i)
            sums[static_cast<std::size_t>(i)] +=
                core::bfloat16_to_float(a[column + i]) * core::bfloat16_to_float(b[column + i]);
    }
    double all = 0.0;
    for (; column < width; ++column)
        all += double{core::bfloat16_to_float(a[column]) * core::bfloat16_to_float(b[column])};
    return static_cast<float>(std::accumulate(sums.begin(), sums.end(), all));
}

// The row sums of dO * O of a panel. Where products are of floats, dO also becomes a panel of them.
void load_row_dots(QueryBlock const& step, std::int64_t p) {
    DataView const &d_o = step.run.tensors[Port::DO], &o = step.run.tensors[Port::O];
    Range const queries = step.panel(p);
    std::int64_t const lanes = step.run.lanes(), width = step.run.shape.value_width;
    float* const dots = step.scratch.row_dots + p * lanes;
    if (step.has_pairs() && has_plain_rows(d_o) && has_plain_rows(o)) {
        std::fill_n(dots, lanes, 0.0f);
        auto const row = [&](DataView const& view, std::int64_t i) {
            return static_cast<std::uint16_t const*>(view.data) + view.at(step.region.b, step.h, i, 0);
        };
        for (std::int64_t i = queries.begin; i < queries.end; ++i)
            dots[i - queries.begin] = dot_rows(row(d_o, i), row(o, i), width);
        return;
    }
    float* const d_o_panel = step.in_panels(step.scratch.d_o_panels, p, width);
    load_panel(step, d_o, queries, width, d_o_panel);
    load_panel(step, o, queries, width, step.scratch.o_panel);
    dot_columns(d_o_panel, step.scratch.o_panel, width, lanes, dots);
}

void load_query_panel(QueryBlock const& step, std::int64_t p) {
    AttentionTensors const& tensors = step.run.tensors;
    AttentionShape const& shape = step.run.shape;
    std::int64_t const lanes = step.run.lanes();
    Range const queries = step.panel(p);
    float* const q = step.in_panels(step.scratch.q_panels, p, shape.width);
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
    load_row_dots(step, p);
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
    if (step.run.has_pair_blocks())
        load_pairs_in_blocks(rows, {pairs, PairBlocks::stride(tile.pairs_of(width)), keys.size(), width}, 0,
                             tile.padded_rows(keys.size()));
    else load_pairs_of_columns(rows, {pairs, tile.keys, keys.size(), width}, tile.keys, tile.pairs_of(width));
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
    if (!run.has_pair_blocks()) return;
    std::fill(rows + pairs * stride, rows + depth * stride, 0);
    run.kernels.transpose(
        {rows, stride, depth, stride, step.scratch.pairs.k_transposed, PairBlocks::stride(run.tile.keys / 2), true});
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
        visit_tile(step, tile, hidden);
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
