// The order in which blocks of the attention kernels work on tiles.
#pragma once

#include "kernels/attention/attention_problem.h"
#include "kernels/device/attention/attention_arguments.h"

namespace cudnn_frontend::kernels {

// The tiles of queries of forward, and the blocks that work on them. If there are fewer blocks than tiles, a block
// works on one tile after the other.
struct QuerySchedule {
    TileOrder order;
    int blocks;
};
QuerySchedule query_schedule(AttentionKernelProblem const& problem, int multiprocessors);

// The tiles of keys of the gradients, of which each has a block. Deterministic gradients add up in this order.
TileOrder key_order(AttentionKernelProblem const& problem, int multiprocessors);

// The multiprocessors for which tiles of keys are ordered on all GPUs, so that the bits of deterministic gradients do
// not depend on the GPU.
inline constexpr int kOrderedMultiprocessors = 132;

}  // namespace cudnn_frontend::kernels
