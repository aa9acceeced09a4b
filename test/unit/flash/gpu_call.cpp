#include "gpu_call.h"

namespace flash_test {

using enum sdpa_graph::flash::Argument;

void Gpu_call::set(sdpa_graph::flash::Argument argument, sdpa_graph::flash::Optional_tensor const& view) {
    if (!view || view->data == nullptr) return;
    views_.push_back(*view);
    views_.back().device = sdpa_graph::Device_kind::CUDA;
    call.set(argument, views_.back());
}

template <class Example>
void Gpu_call::set_all(Example const& example, bool is_backward) {
    set(Q, example.q.view());
    set(K, example.k.view());
    set(V, example.v.view());
    set(Out, example.out.view());
    if (is_backward) {
        set(DOut, example.dout.view());
        set(SoftmaxLse, example.log_sums.view());
        set(DQ, example.q.view());
        set(DK, example.k.view());
        set(DV, example.v.view());
    }
    set(AlibiSlopes, example.slopes_);
    set(Seed, example.generator_);
    call.p_dropout = example.p_dropout;
    call.softcap = example.softcap;
    call.is_causal = example.is_causal;
    call.return_softmax = example.return_softmax;
    call.window_left = example.left;
    call.window_right = example.right;
}

Gpu_call::Gpu_call(Padded const& example, bool is_backward) : Gpu_call(is_backward, false, example.place) {
    set_all(example, is_backward);
}

Gpu_call::Gpu_call(Packed const& example, bool is_backward) : Gpu_call(is_backward, true, example.place) {
    set_all(example, is_backward);
    set(CuSeqlensQ, example.totals_q.view());
    set(CuSeqlensK, example.totals_k.view());
    set(SequsedK, example.used_);
    set(BlockTable, example.table_);
    call.max_seqlen_q = example.most_q;
    call.max_seqlen_k = example.most_k;
}

}  // namespace flash_test
