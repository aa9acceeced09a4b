// Calls of the flash-attention functions, for tensors by their names.
#pragma once

#include "torch_calls.h"

#include <sdpa_graph/flash.h>

namespace binding {

// The arguments that are not tensors, for packed tensors and for padded ones.
struct Flash_numbers {
    int max_seqlen_q, max_seqlen_k;
    float p_dropout, softmax_scale;
    bool is_causal;
    int window_left, window_right;
    float softcap;
    bool is_deterministic, returns_softmax;
};

// The tensors of a forward call that are differentiable.
struct Flash_inputs {
    sdpa_graph::Tensor_view const &q, &k, &v;
};

// The results of forward that backward reads, and the gradient of the first one.
struct Flash_outputs {
    sdpa_graph::Tensor_view out, softmax_lse, dout;
};

// `others` has the further tensors.
fe::error_t flash_forward(Flash_inputs const& inputs, Tensors const& others, Flash_numbers const& numbers,
                          sdpa_graph::Place place, sdpa_graph::flash::Forward_results& results);
fe::error_t flash_backward(Flash_inputs const& inputs, Flash_outputs const& outputs, Tensors const& others,
                           Flash_numbers const& numbers, sdpa_graph::Place place,
                           sdpa_graph::flash::Backward_results& results);

}  // namespace binding
