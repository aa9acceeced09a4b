// Backward attention over a region of the score tensor, which all passes share, and a block of its queries.
#pragma once

#include "cpu/attention/attention_problem.h"
#include "cpu/attention/attention_scores.h"
#include "cpu/attention/attention_scratch.h"
#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <cstdint>

namespace cudnn_frontend::cpu {

// The gradients that a region's walk computes.
struct WantedGradients {
    bool d_q = false, d_k = false, d_v = false, d_bias = false;
};

// The sum of a region's dBias, in double since it may run over the whole score tensor. Steps are 0 along broadcast
// dims.
struct BiasSum {
    double* data = nullptr;
    std::int64_t key_step = 0, query_step = 0;
};

// Heads, queries and keys of one batch entry. Keys begin at a multiple of a tile's, queries at a multiple of the
// block.
struct Region {
    std::int64_t b;
    Range heads, queries, keys;
    WantedGradients wanted;
    bool is_careful = false;  // masked pairs contribute nothing, even with NaN and infinity
};

struct BackwardRun : AttentionRun {
    // Pairs of lanes that are kept for a key: those of one panel, or with blocks those of all, for one product.
    std::int64_t kept_pairs() const { return (has_pair_blocks() ? block : lanes()) / 2; }
    // Pairs of all queries' rows in one block of columns.
    std::int64_t row_block() const { return block / 2 * lanes(); }
    std::int64_t kept_stride() const { return PairBlocks::stride(kept_pairs()); }
    std::int64_t row_padded(std::int64_t width) const { return tile.padded_rows(width); }
    std::int64_t key_padded(std::int64_t keys) const { return round_up(keys, tile.keys); }
    std::int64_t lane_padded(std::int64_t width) const { return round_up(width, kernels.lanes); }
};

// The operands of products as pairs. Panels and columns have pairs along the width, rows have pairs of rows. Rows of
// queries are in blocks, which have as many columns as a register has lanes.
struct PairScratch {
    std::uint32_t *q_panels, *d_o_panels, *k_columns, *v_columns;
    std::uint32_t *q_rows, *d_o_rows, *k_rows;
    std::uint32_t* k_transposed;  // where the layout is Blocks
    // P and dS of a tile in pairs of lanes, in blocks, where the layout is Blocks of all panels; and dS in pairs of
    // rows, of two panels.
    std::uint32_t *weights, *gradients, *gradients_by_rows;
};

// A worker's memory. A panel is depth x lanes, for the queries of one register block.
struct BackwardScratch {
    float *q_panels, *d_o_panels, *d_q_panels;
    float *q, *d_o;  // queries x width
    float* o_panel;
    float *stats, *row_dots;            // for each query
    float *k_columns, *v_columns, *k;   // width x keys, value width x keys, keys x width
    float *scores, *gradients, *spare;  // tiles
    std::byte *modifier, *hidden;       // of ScoreProgram and HiddenTiles
    float *d_k, *d_v;                   // for each key head and value head of the region, keys x width
    BiasSum d_bias;
    PairScratch pairs;  // where the run has them
};

// Sums the region's part of the gradients into the scratch, in an order that is independent of other regions, and
// stores dQ, dK and dV. dBias stays in the scratch, to be summed over many regions.
void walk_region(BackwardRun const& run, AttentionProblem const& problem, Region const& region,
                 BackwardScratch const& scratch);

// The gradient of the sink token, if requested: minus the sum over rows of the sink's probability times dO O.
void store_sink_gradients(BackwardRun const& run, AttentionProblem const& problem, int threads);

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

// Adds the products with one tile of keys, which the scratch has, to all gradients.
void visit_tile(QueryBlock const& block, Range tile, HiddenTiles const& hidden);

}  // namespace cudnn_frontend::cpu
