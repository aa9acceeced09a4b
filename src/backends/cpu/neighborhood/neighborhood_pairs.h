// The products of neighborhood attention's forward pass with BFLOAT16 numbers, where the kernels multiply their pairs.
#pragma once

#include "cpu/attention/attention_problem.h"
#include "cpu/attention/attention_tile.h"
#include "cpu/neighborhood/neighborhood_run.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// The kernels for pairs if this forward pass can run by them; otherwise null.
PairKernels const* pairs_of_forward(NeighborhoodProblem const& problem);

// A panel of queries and a tile of keys as pairs, with a worker's memory.
class NeighborhoodPairs {
   public:
    NeighborhoodPairs(NeighborhoodRun const& run, Arena& arena);

    explicit operator bool() const { return pairs_ != nullptr; }
    std::int64_t rows_of_output() const { return tile_.padded_rows(run_.width()); }

    void load_queries(Tokens const& queries) const;
    // A careful tile has no infinity or NaN among its values.
    void load_keys(Tokens const& keys, bool is_careful) const;
    // The scores of a tile's keys, times `scale`.
    void multiply_by_keys(std::int64_t keys, float scale, float* scores) const;
    // Keeps the weights as pairs.
    void take_softmax_step(float const* scores, std::int64_t keys, float scale, float* max, float* sum,
                           float* rescale) const;
    void unpack_weights(std::int64_t keys, float* weights) const;
    // o = o * rescale + V^T P.
    void multiply_by_values(std::int64_t keys, float const* rescale, float* o) const;

   private:
    bool is_in_blocks() const { return pairs_->layout == PairLayout::Blocks; }
    Slice gathered(TokenView const& view, Tokens const& tokens) const;

    NeighborhoodRun const& run_;
    PairKernels const* pairs_;
    TileSizes tile_;
    std::uint16_t* gathered_ = nullptr;  // rows of tokens, one after the other
    std::uint32_t *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *v_columns_ = nullptr, *weights_ = nullptr;
};

}  // namespace cudnn_frontend::cpu
