#include "flash_calls.h"

namespace binding {

namespace flash = sdpa_graph::flash;

fe::error_t flash_forward(Flash_inputs const& in, Tensors const& t, Flash_numbers const& n, sdpa_graph::Place place,
                          flash::Forward_results& results) {
    place.is_deterministic = n.is_deterministic;
    if (!t.has("cu_seqlens_q")) {
        return flash::mha_fwd(in.q, in.k, in.v, {}, t.maybe("alibi_slopes"), n.p_dropout, n.softmax_scale, n.is_causal,
                              n.window_left, n.window_right, n.softcap, n.returns_softmax, t.maybe("rng_state"), place,
                              results);
    }
    return flash::mha_varlen_fwd(in.q, in.k, in.v, {}, t.at("cu_seqlens_q"), t.at("cu_seqlens_k"), t.maybe("seqused_k"),
                                 t.maybe("block_table"), t.maybe("alibi_slopes"), n.max_seqlen_q, n.max_seqlen_k,
                                 n.p_dropout, n.softmax_scale, false, n.is_causal, n.window_left, n.window_right,
                                 n.softcap, n.returns_softmax, t.maybe("rng_state"), place, results);
}

fe::error_t flash_backward(Flash_inputs const& in, Flash_outputs const& outputs, Tensors const& t,
                           Flash_numbers const& n, sdpa_graph::Place place, flash::Backward_results& results) {
    place.is_deterministic = n.is_deterministic;
    auto const& [out, softmax_lse, dout] = outputs;
    if (!t.has("cu_seqlens_q")) {
        return flash::mha_bwd(dout, in.q, in.k, in.v, out, softmax_lse, {}, {}, {}, t.maybe("alibi_slopes"),
                              n.p_dropout, n.softmax_scale, n.is_causal, n.window_left, n.window_right, n.softcap,
                              n.is_deterministic, t.at("rng_state"), {}, place, results);
    }
    return flash::mha_varlen_bwd(dout, in.q, in.k, in.v, out, softmax_lse, {}, {}, {}, t.at("cu_seqlens_q"),
                                 t.at("cu_seqlens_k"), t.maybe("alibi_slopes"), n.max_seqlen_q, n.max_seqlen_k,
                                 n.p_dropout, n.softmax_scale, false, n.is_causal, n.window_left, n.window_right,
                                 n.softcap, n.is_deterministic, t.at("rng_state"), {}, place, results);
}

}  // namespace binding
