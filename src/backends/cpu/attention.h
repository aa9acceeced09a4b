// Fused attention on host memory: blocked over queries and keys, so that memory grows with S and not with S^2.
#pragma once

#include "core/result.h"
#include "cpu/view.h"

#include <cstdint>

namespace cudnn_frontend::cpu {

// Tensors of forward attention; empty views where an option is not used. Any element type that the host can load.
struct ForwardTensors {
    View q, k, v, scale, bias, sink, seq_len_q, seq_len_kv, seed, offset, dropout_mask, dropout_scale, block_mask;
    View o, stats, max, sum_exp, rng_dump;
};

struct BackwardTensors {
    View q, k, v, o, d_o, stats, scale, bias, sink, seq_len_q, seq_len_kv, seed, offset;
    View dropout_mask, dropout_scale;
    View d_q, d_k, d_v, d_bias, d_sink, rng_dump;
};

// Bytes of workspace, from the views' sizes alone: their pointers are not looked at, except for whether a tensor is
// there.
std::int64_t forward_workspace(ForwardTensors const& tensors, int threads);
std::int64_t backward_workspace(BackwardTensors const& tensors, int threads);

error_t attention_forward(ForwardTensors const& tensors, ir::AttentionOptions const& options, int threads,
                          void* workspace);
error_t attention_backward(BackwardTensors const& tensors, ir::AttentionOptions const& options, int threads,
                           void* workspace);

}  // namespace cudnn_frontend::cpu
