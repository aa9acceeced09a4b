#include <sdpa_graph/flash.h>

#include "core/guard.h"
#include "flash/checks/rules.h"
#include "flash/runs/runs.h"

namespace sdpa_graph::flash {
namespace {

using enum Argument;

void set_inputs(Call& call, Tensor_view const& q, Tensor_view const& k, Tensor_view const& v) {
    call.set(Q, q);
    call.set(K, k);
    call.set(V, v);
}

void set_lengths(Call& call, Tensor_view const& totals_q, Tensor_view const& totals_k, int most_q, int most_k) {
    call.set(CuSeqlensQ, totals_q);
    call.set(CuSeqlensK, totals_k);
    call.max_seqlen_q = most_q;
    call.max_seqlen_k = most_k;
}

// The last arguments of all four functions.
struct CommonOptions {
    Optional_tensor const& alibi_slopes;
    float p_dropout, softmax_scale;
    bool is_causal;
    int window_left, window_right;
    float softcap;
};

void set_options(Call& call, CommonOptions const& options) {
    call.set(AlibiSlopes, options.alibi_slopes);
    call.p_dropout = options.p_dropout;
    call.softmax_scale = options.softmax_scale;
    call.is_causal = options.is_causal;
    call.window_left = options.window_left;
    call.window_right = options.window_right;
    call.softcap = options.softcap;
}

// Two tensors of one number each, or one of two; then the other does not count.
void set_generator(Call& call, Tensor_view const& seed, Tensor_view const& offset) {
    call.set_if_given(Seed, seed);
    if (seed.dim.empty() || (seed.dim.size() == 1 && seed.dim[0] == 1)) call.set_if_given(Offset, offset);
}

// Results that have memory count as passed, like out_. The argument has precedence.
error_t forward(Call call, Optional_tensor const& out, Forward_results& results) {
    call.set_if_given(Out, results.out);
    call.set(Out, out);
    call.set_if_given(SoftmaxLse, results.softmax_lse);
    if (call.return_softmax) call.set_if_given(P, results.p);
    SDPA_GRAPH_TRY(check(call));
    return run_forward(call, results);
}

struct BackwardArguments {
    Optional_tensor const &dq, &dk, &dv;
};

error_t backward(Call call, BackwardArguments const& gradients, Backward_results& results) {
    call.set_if_given(DQ, results.dq);
    call.set_if_given(DK, results.dk);
    call.set_if_given(DV, results.dv);
    call.set_if_given(SoftmaxD, results.softmax_d);
    call.set(DQ, gradients.dq);
    call.set(DK, gradients.dk);
    call.set(DV, gradients.dv);
    SDPA_GRAPH_TRY(check(call));
    return run_backward(call, results);
}

}  // namespace

error_t mha_fwd(Tensor_view const& q, Tensor_view const& k, Tensor_view const& v, Optional_tensor const& out_,
                Optional_tensor const& alibi_slopes_, float p_dropout, float softmax_scale, bool is_causal,
                int window_size_left, int window_size_right, float softcap, bool return_softmax,
                Optional_tensor const& gen_, Place const& place, Forward_results& results) noexcept {
    return fe::core::guarded([&] {
        Call call{.function = "mha_fwd", .is_backward = false, .is_packed = false, .place = &place};
        set_inputs(call, q, k, v);
        set_options(call,
                    {alibi_slopes_, p_dropout, softmax_scale, is_causal, window_size_left, window_size_right, softcap});
        call.return_softmax = return_softmax;
        if (gen_) call.set_if_given(Seed, *gen_);
        return forward(call, out_, results);
    });
}

error_t mha_varlen_fwd(Tensor_view const& q, Tensor_view const& k, Tensor_view const& v, Optional_tensor const& out_,
                       Tensor_view const& cu_seqlens_q, Tensor_view const& cu_seqlens_k,
                       Optional_tensor const& seqused_k, Optional_tensor const& block_table_,
                       Optional_tensor const& alibi_slopes_, int max_seqlen_q, int max_seqlen_k, float p_dropout,
                       float softmax_scale, bool zero_tensors, bool is_causal, int window_size_left,
                       int window_size_right, float softcap, bool return_softmax, Optional_tensor const& gen_,
                       Place const& place, Forward_results& results) noexcept {
    return fe::core::guarded([&] {
        Call call{.function = "mha_varlen_fwd", .is_backward = false, .is_packed = true, .place = &place};
        set_inputs(call, q, k, v);
        set_lengths(call, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k);
        set_options(call,
                    {alibi_slopes_, p_dropout, softmax_scale, is_causal, window_size_left, window_size_right, softcap});
        call.set(SequsedK, seqused_k);
        call.set(BlockTable, block_table_);
        call.zero_tensors = zero_tensors;
        call.return_softmax = return_softmax;
        if (gen_) call.set_if_given(Seed, *gen_);
        return forward(call, out_, results);
    });
}

error_t mha_bwd(Tensor_view const& dout, Tensor_view const& q, Tensor_view const& k, Tensor_view const& v,
                Tensor_view const& out, Tensor_view const& softmax_lse, Optional_tensor const& dq_,
                Optional_tensor const& dk_, Optional_tensor const& dv_, Optional_tensor const& alibi_slopes_,
                float p_dropout, float softmax_scale, bool is_causal, int window_size_left, int window_size_right,
                float softcap, bool deterministic, Tensor_view const& philox_seed, Tensor_view const& philox_offset,
                Place const& place, Backward_results& results) noexcept {
    return fe::core::guarded([&] {
        Call call{.function = "mha_bwd", .is_backward = true, .is_packed = false, .place = &place};
        set_inputs(call, q, k, v);
        call.set(DOut, dout);
        call.set(Out, out);
        call.set(SoftmaxLse, softmax_lse);
        set_options(call,
                    {alibi_slopes_, p_dropout, softmax_scale, is_causal, window_size_left, window_size_right, softcap});
        call.is_deterministic = deterministic;
        set_generator(call, philox_seed, philox_offset);
        return backward(call, {dq_, dk_, dv_}, results);
    });
}

error_t mha_varlen_bwd(Tensor_view const& dout, Tensor_view const& q, Tensor_view const& k, Tensor_view const& v,
                       Tensor_view const& out, Tensor_view const& softmax_lse, Optional_tensor const& dq_,
                       Optional_tensor const& dk_, Optional_tensor const& dv_, Tensor_view const& cu_seqlens_q,
                       Tensor_view const& cu_seqlens_k, Optional_tensor const& alibi_slopes_, int max_seqlen_q,
                       int max_seqlen_k, float p_dropout, float softmax_scale, bool zero_tensors, bool is_causal,
                       int window_size_left, int window_size_right, float softcap, bool deterministic,
                       Tensor_view const& philox_seed, Tensor_view const& philox_offset, Place const& place,
                       Backward_results& results) noexcept {
    return fe::core::guarded([&] {
        Call call{.function = "mha_varlen_bwd", .is_backward = true, .is_packed = true, .place = &place};
        set_inputs(call, q, k, v);
        call.set(DOut, dout);
        call.set(Out, out);
        call.set(SoftmaxLse, softmax_lse);
        set_lengths(call, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k);
        set_options(call,
                    {alibi_slopes_, p_dropout, softmax_scale, is_causal, window_size_left, window_size_right, softcap});
        call.zero_tensors = zero_tensors;
        call.is_deterministic = deterministic;
        set_generator(call, philox_seed, philox_offset);
        return backward(call, {dq_, dk_, dv_}, results);
    });
}

}  // namespace sdpa_graph::flash
