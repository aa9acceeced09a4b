// Attention by its definition: fp64, dense, plain loops. Independent of the library, so that the two agree only if both
// are right.
#pragma once

#include "reference/oracle/fp8_format.h"
#include "reference/oracle/modifier.h"

#include <optional>
#include <vector>

namespace oracle {

struct Problem {
    Array q, k, v;  // {B,Hq,Sq,Dqk}, {B,Hk,Skv,Dqk}, {B,Hv,Skv,Dv}; Hk and Hv divide Hq
    double scale = 1.0;
    Modifier modifier;                                      // between scale and bias
    std::optional<Array> bias;                              // each dim full or 1
    std::optional<std::array<std::int64_t, 4>> d_bias_dim;  // the same; by default the bias's
    std::optional<Array> sink;                              // {1,Hq,1,1}: a score of each row that has no key
    std::optional<Array> block_mask;  // {B,Hq,ceil(Sq/128),ceil(Skv/1024)}: bytes of 8 tiles of 128 keys, low bit first
    bool alibi = false;
    std::optional<std::vector<std::int64_t>> len_q, len_kv;  // of each batch entry
    bool bottom_right = false;
    std::optional<std::int64_t> left, right;  // bounds of the diagonal band
    std::optional<Array> dropout_mask;        // each dim full or 1
    double dropout_scale = 1.0;
    // FP8 attention: quantization of the probabilities before the products with V and dO, and of the gradients of the
    // products before those with K and Q.
    std::optional<Narrowing> narrow_probability, narrow_gradient;

    std::int64_t batches() const { return q.dim[0]; }
    std::int64_t heads() const { return q.dim[1]; }
    std::int64_t queries() const { return q.dim[2]; }
    std::int64_t keys() const { return k.dim[2]; }
    std::int64_t k_head(std::int64_t h) const { return h / (heads() / k.dim[1]); }
    std::int64_t v_head(std::int64_t h) const { return h / (heads() / v.dim[1]); }

    // scale q k^T, before anything else.
    double product_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
    bool is_past(std::int64_t b, std::int64_t i) const;  // whether the query is beyond the length
    bool keeps(std::int64_t b, std::int64_t i, std::int64_t j) const;
    bool keeps_tile(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
    double sink_at(std::int64_t h) const;  // -inf without a sink
    double bias_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
    double alibi_at(std::int64_t h, std::int64_t i, std::int64_t j) const;
    // The factor by which dropout multiplies a probability.
    double dropout_at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const;
};

struct Forward {
    Array o;                 // 0 in rows where every key is masked
    Array stats;             // natural log-sum-exp; in such rows the sink, or -inf
    Array max{}, sum_exp{};  // the maximum, and the sum of exp(score - maximum)
    // The greatest magnitudes of the probabilities after dropout, and of O.
    double amax_s = 0.0, amax_o = 0.0;
};

struct Backward {
    Array d_q, d_k, d_v;
    Array d_bias;    // empty without a bias
    Array d_sink{};  // empty without a sink
    // The greatest magnitudes of these gradients, and of those of the products of Q and K.
    double amax_d_q = 0.0, amax_d_k = 0.0, amax_d_v = 0.0, amax_d_p = 0.0;
};

double alibi_slope(std::int64_t head, std::int64_t heads);
double greatest_magnitude(Array const& array);

// The gradient of a product of Q and K with this probability, including the scale and before any quantization.
double product_gradient(Problem const& problem, double probability, Array const& o, Array const& d_o,
                        std::array<std::int64_t, 4> const& at);

// A factor of 0 skips the product, also with infinity and NaN, if it marks a pair as masked or dropped: a probability,
// the gradient of a score, and dropout's factor of the gradient of a probability.

// {B,Hq,Sq,Skv}: scaled, biased, masked with -inf. Masked elements of Q, K and V are never read.
Array scores(Problem const& problem);

// exp(score - stats), 0 where masked.
Array probabilities(Array const& scores, Array const& stats);

Forward forward(Problem const& problem);

// The gradients of sum(O * d_o), from O and stats as the forward pass stored them.
Backward backward(Problem const& problem, Array const& o, Array const& stats, Array const& d_o);

}  // namespace oracle
