// Forward attention: a block of queries, which a worker processes against all keys; and few queries, as in decoding,
// for which keys and values are read once, as they lie in memory.
#pragma once

#include "cpu/attention/attention_problem.h"
#include "cpu/attention/attention_scratch.h"

#include <algorithm>
#include <cstdint>

namespace cudnn_frontend::cpu {

// A worker's memory. Queries come in panels of one register block of lanes; a panel is depth x lanes.
struct ForwardScratch {
    float *q, *o;                                          // panels
    float *k, *v;                                          // width x keys, keys x value width
    float *scores, *spare;                                 // tiles
    std::uint32_t *q_pairs, *k_pairs, *v_pairs, *p_pairs;  // the same as pairs, where the run has them
    std::uint32_t* v_columns;                              // value width x pairs of keys, where the layout is Blocks
    float *running_max, *running_sum;                      // for each query
    std::byte *modifier, *hidden;                          // of ScoreProgram and HiddenTiles
};

struct ForwardRun : AttentionRun {
    std::int64_t value_stride;  // value width in whole register blocks
    std::int64_t kept_tiles;    // tiles of keys and values that are there as pairs at once

    std::int64_t blocks() const { return (shape.queries + block - 1) / block; }
    std::int64_t tasks() const { return shape.batches * shape.heads * blocks(); }
    std::int64_t pairs_of_width() const { return tile.pairs_of(shape.width); }
    // The size of a tile's values as pairs of keys in blocks.
    std::int64_t value_blocks() const { return PairBlocks::size(value_stride, tile.keys / 2); }
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
    // Whether the matrix unit computes products for one softmax during another: for scores that masks alone change.
    bool takes_turns() const {
        return run.has_pair_blocks() && !is_careful && !problem.has_dropout() && problem.has_plain_scores();
    }
    std::int64_t panels() const { return (queries.size() + run.lanes() - 1) / run.lanes(); }
    std::int64_t padded_queries() const { return panels() * run.lanes(); }
    // The panel's queries within the sequence's length.
    Range panel(std::int64_t index) const {
        std::int64_t const begin = queries.begin + index * run.lanes();
        return {begin, std::min({begin + run.lanes(), queries.end, sequence.queries})};
    }
    // How far the running maximum may stay behind: not at all where it is a result.
    float lag() const { return run.tensors[Port::Max] || run.tensors[Port::SumExp] ? 0.0f : kMostLag; }
    RowSoftmax before_keys() const { return problem.before_keys(h); }
};

// Processes the block against all keys that are visible to it.
void attend_to_keys(ForwardTask const& task);

// Whether these sizes are those of few queries, and whether masks, a bias or ALiBi alone change their scores.
bool has_few_queries(AttentionShape const& shape);
bool attends_few_queries(AttentionProblem const& problem);

// Bytes of workspace.
std::int64_t few_queries_workspace(AttentionTensors const& tensors, int threads);
void attend_few_queries(AttentionTensors const& tensors, AttentionProblem const& problem, int threads, void* workspace);

}  // namespace cudnn_frontend::cpu
