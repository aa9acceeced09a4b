// The flash-attention interface: attention of padded and of packed sequences as four functions, over tensors of any
// library. Names, order and meaning of the arguments are those of its C++ functions; docs/flash.md has the formulas,
// the rules, and what differs.
#pragma once

#include "place.h"

#include <optional>

namespace sdpa_graph {
namespace flash {

using Optional_tensor = std::optional<Tensor_view>;

using sdpa_graph::Allocator;
using sdpa_graph::Place;

// A result whose data is set before the call is written there; it needs the shape that the call gives it, row-major.
// The others come from the allocator.
struct Forward_results {
    Tensor_view out;
    // FLOAT {b, h, seqlen_q}, or {h, total_q} if packed. Fastest where the heads of a row are adjacent in memory.
    // Natural logarithms; +inf where no key is visible to a query.
    Tensor_view softmax_lse;
    Tensor_view rng_state;  // the generator that was passed; empty without dropout
    Tensor_view p;          // with return_softmax: the probabilities before dropout, negative where dropped
};

struct Backward_results {
    Tensor_view dq, dk, dv;
    Tensor_view softmax_d;  // FLOAT: (1 - p_dropout) times the sum of dout * out in each row
};

// A generator is {seed, offset}: two INT64 where the other tensors are. Dropout needs it, and backward gets the same
// tensor as philox_seed, or the two numbers as separate arguments. A view without data is a tensor that is not there.

// q {b, seqlen_q, h, d}; k and v {b, seqlen_k, h_k, d}; out like q. Slopes are FLOAT {h} or {b, h}. A negative window
// is unbounded; causal and windows are aligned at the bottom right.
SDPA_GRAPH_API cudnn_frontend::error_t mha_fwd(Tensor_view const& q, Tensor_view const& k, Tensor_view const& v,
                                               Optional_tensor const& out_, Optional_tensor const& alibi_slopes_,
                                               float p_dropout, float softmax_scale, bool is_causal,
                                               int window_size_left, int window_size_right, float softcap,
                                               bool return_softmax, Optional_tensor const& gen_, Place const& place,
                                               Forward_results& results) noexcept;

// q {total_q, h, d}; k and v {total_k, h_k, d}, or with a block_table {blocks, rows, h_k, d}. cu_seqlens are INT32
// {b + 1}, seqused_k INT32 {b}, the table INT32 {b, blocks of a sequence}.
SDPA_GRAPH_API cudnn_frontend::error_t mha_varlen_fwd(
    Tensor_view const& q, Tensor_view const& k, Tensor_view const& v, Optional_tensor const& out_,
    Tensor_view const& cu_seqlens_q, Tensor_view const& cu_seqlens_k, Optional_tensor const& seqused_k,
    Optional_tensor const& block_table_, Optional_tensor const& alibi_slopes_, int max_seqlen_q, int max_seqlen_k,
    float p_dropout, float softmax_scale, bool zero_tensors, bool is_causal, int window_size_left,
    int window_size_right, float softcap, bool return_softmax, Optional_tensor const& gen_, Place const& place,
    Forward_results& results) noexcept;

SDPA_GRAPH_API cudnn_frontend::error_t mha_bwd(
    Tensor_view const& dout, Tensor_view const& q, Tensor_view const& k, Tensor_view const& v, Tensor_view const& out,
    Tensor_view const& softmax_lse, Optional_tensor const& dq_, Optional_tensor const& dk_, Optional_tensor const& dv_,
    Optional_tensor const& alibi_slopes_, float p_dropout, float softmax_scale, bool is_causal, int window_size_left,
    int window_size_right, float softcap, bool deterministic, Tensor_view const& philox_seed,
    Tensor_view const& philox_offset, Place const& place, Backward_results& results) noexcept;

SDPA_GRAPH_API cudnn_frontend::error_t mha_varlen_bwd(
    Tensor_view const& dout, Tensor_view const& q, Tensor_view const& k, Tensor_view const& v, Tensor_view const& out,
    Tensor_view const& softmax_lse, Optional_tensor const& dq_, Optional_tensor const& dk_, Optional_tensor const& dv_,
    Tensor_view const& cu_seqlens_q, Tensor_view const& cu_seqlens_k, Optional_tensor const& alibi_slopes_,
    int max_seqlen_q, int max_seqlen_k, float p_dropout, float softmax_scale, bool zero_tensors, bool is_causal,
    int window_size_left, int window_size_right, float softcap, bool deterministic, Tensor_view const& philox_seed,
    Tensor_view const& philox_offset, Place const& place, Backward_results& results) noexcept;

}  // namespace flash
}  // namespace sdpa_graph
