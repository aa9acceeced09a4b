// Fused attention on host memory: blocked over queries and keys, so that memory grows with S, not with S^2.
#pragma once

#include "attention/attention_operands.h"
#include "core/result.h"
#include "cpu/attention/score_program.h"
#include "cpu/memory/view.h"

#include <cstdint>
#include <limits>

namespace cudnn_frontend::cpu {

using attention::Port;

// Tensors of attention, by port; empty views where an option is not used. Any element type that the host can load.
using AttentionTensors = attention::OfOperation<DataView>;

// Bytes of workspace, from the views' sizes alone: their pointers are not looked at, except for whether a tensor is
// there.
std::int64_t forward_workspace(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads);
std::int64_t backward_workspace(AttentionTensors const& tensors, ScoreProgram const& modifier, int threads);

struct AttentionWork {
    AttentionTensors tensors;
    ir::AttentionOptions const& options;
    ScoreProgram modifier;
    int most_threads = std::numeric_limits<int>::max();  // fewer may run than the workspace is for
};
// The number of threads that saves time: waking one takes about as long as the products of a small attention.
int useful_threads(AttentionTensors const& tensors);
error_t attention_forward(AttentionWork work, int threads, void* workspace);
error_t attention_backward(AttentionWork work, int threads, void* workspace);

}  // namespace cudnn_frontend::cpu
