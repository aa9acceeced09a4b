// The products of neighborhood attention with BFLOAT16 numbers, where the kernels multiply their pairs.
#pragma once

#include "cpu/attention/attention_problem.h"
#include "cpu/attention/attention_tile.h"
#include "cpu/neighborhood/neighborhood_run.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// The kernels for pairs if the passes can run by them; otherwise null.
PairKernels const* pairs_of_forward(NeighborhoodProblem const& problem);
PairKernels const* pairs_of_backward(NeighborhoodProblem const& problem);

// Panels of queries and tiles of keys as pairs along the width, and their products.
class TokenPairs {
   public:
    TokenPairs(NeighborhoodRun const& run, PairKernels const* pairs, Arena& arena);

    explicit operator bool() const { return pairs_ != nullptr; }
    PairKernels const* kernels() const { return pairs_; }
    // Memory for a panel and for a tile of keys; null without pairs.
    std::uint32_t* take_panel(Arena& arena) const;
    std::uint32_t* take_columns(Arena& arena) const;

    void load_panel(TokenView const& view, Tokens const& queries, std::uint32_t* panel) const;
    void load_columns(TokenView const& view, Tokens const& keys, std::uint32_t* columns) const;
    // tile (keys x lanes) = columns^T panel, times `scale`.
    void multiply(std::uint32_t const* columns, std::uint32_t const* panel, std::int64_t keys, float scale,
                  float* tile) const;

   protected:
    bool is_in_blocks() const { return pairs_->layout == PairLayout::Blocks; }
    // A tensor's rows of these tokens, one after the other in memory.
    Slice gathered(TokenView const& view, Tokens const& tokens) const;

    NeighborhoodRun const& run_;
    PairKernels const* pairs_;
    TileSizes tile_;

   private:
    std::uint16_t* gathered_ = nullptr;
};

// A panel of queries and a tile of keys and values of the forward pass, with a worker's memory.
class NeighborhoodPairs : public TokenPairs {
   public:
    NeighborhoodPairs(NeighborhoodRun const& run, Arena& arena);

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
    std::uint32_t *q_ = nullptr, *k_ = nullptr, *v_ = nullptr, *v_columns_ = nullptr, *weights_ = nullptr;
};

}  // namespace cudnn_frontend::cpu
