// The sizes, masks and dropout of fused attention, read from the tensors and options once for each run.
#pragma once

#include "attention/philox.h"
#include "cpu/attention/attention.h"
#include "cpu/attention/attention_scratch.h"
#include "cpu/attention/kernels/attention_kernels.h"
#include "cpu/attention/score_program.h"
#include "cpu/memory/view.h"

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace cudnn_frontend::cpu {

struct AttentionShape {
    std::int64_t batches, heads, key_heads, value_heads;
    std::int64_t queries, keys;
    std::int64_t width, value_width;

    std::int64_t key_head(std::int64_t head) const { return head / (heads / key_heads); }
    std::int64_t value_head(std::int64_t head) const { return head / (heads / value_heads); }
};

AttentionShape shape_of(DataView const& q, DataView const& k, DataView const& v);

// One batch entry: its lengths, and its band, where key j is visible to query i if i + shift - left < j <= i + shift +
// right.
struct Sequence {
    std::int64_t queries, keys;
    std::int64_t shift, left, right;

    // The smallest range with all keys that are visible to any of the queries.
    Range keys_of(Range query_range) const;
    bool sees_all(Range query_range, Range key_range) const;
};

struct AttentionProblem {
    AttentionShape shape;
    DataView bias, sink, dropout_mask, seq_len_q, seq_len_kv;
    float scale = 1.0f;
    BlockMask block_mask;
    ScoreProgram modifier;
    bool alibi = false;
    bool is_bottom_right = false;
    std::int64_t left = 0, right = 0;
    std::optional<attention::PhiloxMask> generator;
    float dropout_scale = 1.0f;
    float log_of_base = 1.0f;  // of Stats: Stats times this is a natural logarithm

    // Whether masks alone change scores: then softmax may scale them.
    bool has_plain_scores() const { return scale > 0.0f && !modifier && !bias && !alibi; }
    bool has_dropout() const { return generator || dropout_mask; }
    Sequence sequence(std::int64_t b) const;
    float sink_of(std::int64_t h) const;  // -inf if there is none
    // The initial value of softmax, before any key. A sink is a score without a key.
    RowSoftmax before_keys(std::int64_t h) const;
};

AttentionProblem make_problem(AttentionTensors const& tensors, ir::AttentionOptions const& options,
                              ScoreProgram modifier);

// The sizes of tiles and their padding: as products of pairs need them if there are any, otherwise those of floats.
struct TileSizes {
    std::int64_t keys, row_step, depth_step;

    std::int64_t padded_rows(std::int64_t rows) const { return round_up(rows, row_step); }
    std::int64_t pairs_of(std::int64_t numbers) const { return round_up((numbers + 1) / 2, depth_step); }
};

TileSizes tile_sizes(Kernels const& kernels, PairKernels const* pairs);

// The kernels of a run, forward or backward, and the sizes that follow from them.
struct AttentionRun {
    AttentionTensors const& tensors;
    ScoreProgram const& modifier;
    AttentionShape shape;
    Kernels const& kernels;
    PairKernels const* pairs;  // null where products are of floats
    TileSizes tile;
    std::int64_t block;  // queries that a worker processes together

    std::int64_t lanes() const { return kernels.lanes; }
    bool has_pair_blocks() const { return have_blocks(pairs); }
};

// The operands of the products, and the results that follow from rounded probabilities; and the most queries of a block
// where the kernels multiply pairs in blocks, so fast that bringing keys and values into their layout counts.
struct RunOperands {
    std::initializer_list<Port> factors, results;
    std::int64_t most_queries;
};

AttentionRun make_run(AttentionTensors const& tensors, ScoreProgram const& modifier, RunOperands const& operands,
                      int threads);

}  // namespace cudnn_frontend::cpu
