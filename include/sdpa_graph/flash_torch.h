// The functions of flash.h on at::Tensor, for programs that have PyTorch: in place of its flash_api.h, a program
// includes this header and links this library. docs/flash.md says what differs.
//
// FLASH_NAMESPACE, by default pytorch_flash, becomes another name of the namespace that has them. They are not in it,
// since libtorch exports the originals from there.
#pragma once

#include "flash.h"
#include "place_torch.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <mutex>
#include <optional>
#include <tuple>

#if !defined(FLASH_NAMESPACE)
#define FLASH_NAMESPACE pytorch_flash
#endif

namespace sdpa_graph {
namespace flash_torch {

namespace detail {

using place_torch::Call;
using place_torch::check;
using place_torch::view_of;

// Seed and offset of a call with so many heads in all batch entries. A generator of a GPU advances its offset, by 32
// for each head; that of the CPU has none, and draws both numbers.
inline at::Tensor generator_state(at::Tensor const& q, std::int64_t heads, std::optional<at::Generator> const& given) {
    at::Generator generator = given && given->defined() ? *given : at::globalContext().defaultGenerator(q.device());
    if (!q.is_cuda()) return at::empty({2}, at::kLong).random_(generator);
    std::int64_t seed = 0, offset = 0;
    {
        std::lock_guard<std::mutex> const lock(generator.mutex());
        seed = static_cast<std::int64_t>(generator.current_seed());
        offset = static_cast<std::int64_t>(generator.get_offset());
        generator.set_offset(static_cast<std::uint64_t>(offset + 32 * heads));
    }
    at::Tensor state = at::empty({2}, q.options().dtype(at::kLong));
    state.select(0, 0).fill_(seed);
    state.select(0, 1).fill_(offset);
    return state;
}

struct Generated {
    at::Tensor state;  // undefined without dropout
    flash::Optional_tensor view;

    Generated(at::Tensor const& q, std::int64_t heads, float p_dropout, std::optional<at::Generator> const& generator) {
        if (!(p_dropout > 0.0f)) return;
        state = generator_state(q, heads, generator);
        view = view_of(state);
    }
};

using Forward =
    std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
using Backward = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

inline Forward forward_results(Call const& call, flash::Forward_results const& results, at::Tensor const& q,
                               at::Tensor const& k, at::Tensor const& v, std::optional<at::Tensor> const& out,
                               Generated const& generated) {
    auto const numbers = q.options().dtype(at::kLong);
    at::Tensor const state = generated.state.defined() ? generated.state : at::zeros({2}, numbers);
    return {call.result("out", results.out, out),
            q,
            k,
            v,
            call.result("softmax_lse", results.softmax_lse),
            state,
            at::empty({}, numbers),
            call.result("p", results.p)};
}

inline Backward backward_results(Call const& call, flash::Backward_results const& results,
                                 std::optional<at::Tensor> const& dq, std::optional<at::Tensor> const& dk,
                                 std::optional<at::Tensor> const& dv, std::optional<at::Tensor> const& softmax_d) {
    return {call.result("dq", results.dq, dq), call.result("dk", results.dk, dk), call.result("dv", results.dv, dv),
            call.result("softmax_d", results.softmax_d, softmax_d)};
}

// On a GPU softmax_d is written if there is memory for it. The function makes none if q does not have that many dims.
inline std::optional<at::Tensor> softmax_d_of(at::Tensor const& q, std::int64_t dims, std::int64_t sequences) {
    constexpr std::int64_t rows = 128;
    if (!q.is_cuda() || q.dim() != dims) return std::nullopt;
    auto const options = q.options().dtype(at::kFloat);
    if (dims == 3) return at::empty({q.size(1), q.size(0) + rows * sequences}, options);
    return at::empty({q.size(0), q.size(2), (q.size(1) + rows - 1) / rows * rows}, options);
}

}  // namespace detail

// Arguments and results as in PyTorch's flash_api.h. rng_state is {seed, offset} of type kLong, which backward accepts
// as philox_seed; the tensors returned second to fourth are q, k and v.

inline detail::Forward mha_fwd(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                               std::optional<at::Tensor>& out_, std::optional<at::Tensor>& alibi_slopes_,
                               float const p_dropout, float const softmax_scale, bool is_causal, int window_size_left,
                               int window_size_right, float const softcap, bool const return_softmax,
                               std::optional<at::Generator> gen_) {
    detail::Call const call(q);
    std::int64_t const heads = q.dim() == 4 ? q.size(0) * q.size(2) : 1;
    detail::Generated const generated(q, heads, p_dropout, gen_);
    flash::Forward_results results;
    detail::check(flash::mha_fwd(detail::view_of(q), detail::view_of(k), detail::view_of(v), detail::view_of(out_),
                                 detail::view_of(alibi_slopes_), p_dropout, softmax_scale, is_causal, window_size_left,
                                 window_size_right, softcap, return_softmax, generated.view, call.place(), results));
    return detail::forward_results(call, results, q, k, v, out_, generated);
}

inline detail::Forward mha_varlen_fwd(at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                                      std::optional<at::Tensor>& out_, at::Tensor const& cu_seqlens_q,
                                      at::Tensor const& cu_seqlens_k, std::optional<at::Tensor>& seqused_k,
                                      std::optional<at::Tensor>& block_table_, std::optional<at::Tensor>& alibi_slopes_,
                                      int max_seqlen_q, int const max_seqlen_k, float const p_dropout,
                                      float const softmax_scale, bool const zero_tensors, bool is_causal,
                                      int window_size_left, int window_size_right, float const softcap,
                                      bool const return_softmax, std::optional<at::Generator> gen_) {
    detail::Call const call(q);
    std::int64_t const heads = q.dim() == 3 ? (cu_seqlens_q.numel() - 1) * q.size(1) : 1;
    detail::Generated const generated(q, heads, p_dropout, gen_);
    flash::Forward_results results;
    detail::check(
        flash::mha_varlen_fwd(detail::view_of(q), detail::view_of(k), detail::view_of(v), detail::view_of(out_),
                              detail::view_of(cu_seqlens_q), detail::view_of(cu_seqlens_k), detail::view_of(seqused_k),
                              detail::view_of(block_table_), detail::view_of(alibi_slopes_), max_seqlen_q, max_seqlen_k,
                              p_dropout, softmax_scale, zero_tensors, is_causal, window_size_left, window_size_right,
                              softcap, return_softmax, generated.view, call.place(), results));
    return detail::forward_results(call, results, q, k, v, out_, generated);
}

inline detail::Backward mha_bwd(at::Tensor const& dout, at::Tensor const& q, at::Tensor const& k, at::Tensor const& v,
                                at::Tensor const& out, at::Tensor const& softmax_lse, std::optional<at::Tensor>& dq_,
                                std::optional<at::Tensor>& dk_, std::optional<at::Tensor>& dv_,
                                std::optional<at::Tensor>& alibi_slopes_, float const p_dropout,
                                float const softmax_scale, bool const is_causal, int window_size_left,
                                int window_size_right, float const softcap, bool const deterministic,
                                at::Tensor const philox_seed, at::Tensor const philox_offset) {
    detail::Call const call(q);
    flash::Backward_results results;
    auto const softmax_d = detail::softmax_d_of(q, 4, 0);
    if (softmax_d) results.softmax_d = detail::view_of(*softmax_d);
    detail::check(flash::mha_bwd(detail::view_of(dout), detail::view_of(q), detail::view_of(k), detail::view_of(v),
                                 detail::view_of(out), detail::view_of(softmax_lse), detail::view_of(dq_),
                                 detail::view_of(dk_), detail::view_of(dv_), detail::view_of(alibi_slopes_), p_dropout,
                                 softmax_scale, is_causal, window_size_left, window_size_right, softcap, deterministic,
                                 detail::view_of(philox_seed), detail::view_of(philox_offset), call.place(), results));
    return detail::backward_results(call, results, dq_, dk_, dv_, softmax_d);
}

inline detail::Backward mha_varlen_bwd(at::Tensor const& dout, at::Tensor const& q, at::Tensor const& k,
                                       at::Tensor const& v, at::Tensor const& out, at::Tensor const& softmax_lse,
                                       std::optional<at::Tensor>& dq_, std::optional<at::Tensor>& dk_,
                                       std::optional<at::Tensor>& dv_, at::Tensor const& cu_seqlens_q,
                                       at::Tensor const& cu_seqlens_k, std::optional<at::Tensor>& alibi_slopes_,
                                       int const max_seqlen_q, int const max_seqlen_k, float const p_dropout,
                                       float const softmax_scale, bool const zero_tensors, bool const is_causal,
                                       int window_size_left, int window_size_right, float const softcap,
                                       bool const deterministic, at::Tensor const philox_seed,
                                       at::Tensor const philox_offset) {
    detail::Call const call(q);
    flash::Backward_results results;
    auto const softmax_d = detail::softmax_d_of(q, 3, cu_seqlens_q.numel() - 1);
    if (softmax_d) results.softmax_d = detail::view_of(*softmax_d);
    detail::check(flash::mha_varlen_bwd(
        detail::view_of(dout), detail::view_of(q), detail::view_of(k), detail::view_of(v), detail::view_of(out),
        detail::view_of(softmax_lse), detail::view_of(dq_), detail::view_of(dk_), detail::view_of(dv_),
        detail::view_of(cu_seqlens_q), detail::view_of(cu_seqlens_k), detail::view_of(alibi_slopes_), max_seqlen_q,
        max_seqlen_k, p_dropout, softmax_scale, zero_tensors, is_causal, window_size_left, window_size_right, softcap,
        deterministic, detail::view_of(philox_seed), detail::view_of(philox_offset), call.place(), results));
    return detail::backward_results(call, results, dq_, dk_, dv_, softmax_d);
}

}  // namespace flash_torch
}  // namespace sdpa_graph

namespace FLASH_NAMESPACE = sdpa_graph::flash_torch;
