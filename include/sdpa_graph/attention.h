// Scaled-dot-product attention, forward and backward, as functions over tensors of any library:
// docs/attention-functions.md.
#pragma once

#include "place.h"

#include <cstdint>
#include <optional>

namespace sdpa_graph {
namespace attention {

using Optional_tensor = std::optional<Tensor_view>;

// Padded tensors are {b, h, s, d} with any strides but the last, which is 1. Tensors of a side with cu_seqlens are
// packed: {tokens, h, d}. Keys and values in pages are {pages, h, rows, d}.
struct Inputs {
    Tensor_view q, k, v;
    Optional_tensor bias;                         // added to the scores; broadcast to {b, h, s_q, s_kv}
    Optional_tensor sink;                         // FLOAT {1, h, 1, 1}
    Optional_tensor seq_len_q, seq_len_kv;        // INT32, b numbers
    Optional_tensor cu_seqlens_q, cu_seqlens_kv;  // INT32, b + 1 numbers: 0, then where each sequence ends
    Optional_tensor page_table;                   // INT32 {b, pages of a sequence}
    Optional_tensor seed;                         // INT64 {2}, the seed and the offset, where the other tensors are
};

// The options of attention, as in a graph's attributes of the same names.
struct Options {
    std::optional<float> scale;  // 1 / sqrt(d) by default
    std::optional<std::int64_t> left_bound, right_bound;
    bool is_bottom_right = false;
    bool has_alibi = false;
    std::optional<float> softcap;
    float dropout_p = 0.0f;
    bool is_deterministic = false;  // of backward
    std::int64_t longest_q = 0;     // the longest of packed sequences
    std::int64_t longest_kv = 0;    // the same, and the keys of a sequence in pages
};

// Results that have memory are written there; the allocator gives memory for the others.
struct Forward_results {
    Tensor_view o;  // like q, with the last dim of v
    // FLOAT, like q with a last dim of 1: the logarithm of each row's sum of exponentials, which backward reads. Its
    // dims lie in memory in the order of q's.
    Tensor_view stats;
};

struct Backward_results {
    Tensor_view dq, dk, dv;
    Tensor_view dbias, dsink;  // written only if they have memory
};

// Without `wants_stats`, results.stats is not written.
SDPA_GRAPH_API cudnn_frontend::error_t forward(Inputs const& inputs, Options const& options, bool wants_stats,
                                               Place const& place, Forward_results& results) noexcept;

// The inputs, the options and the place's shape policy are those of forward; o and stats are its results.
SDPA_GRAPH_API cudnn_frontend::error_t backward(Tensor_view const& grad_o, Inputs const& inputs, Tensor_view const& o,
                                                Tensor_view const& stats, Options const& options, Place const& place,
                                                Backward_results& results) noexcept;

}  // namespace attention
}  // namespace sdpa_graph
