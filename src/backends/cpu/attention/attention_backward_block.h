// A block of queries in backward attention, and its products with one tile of keys.
#pragma once

#include "cpu/attention/attention_backward.h"
#include "cpu/attention/score_bounds.h"

#include <algorithm>
#include <cstdint>

namespace cudnn_frontend::cpu {

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
