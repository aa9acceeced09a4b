#include "cpu/neighborhood.h"

#include "cpu/attention_scratch.h"
#include "cpu/neighborhood_passes.h"

#include <limits>

namespace cudnn_frontend::cpu {
namespace {

using enum NeighborhoodFunction;

std::int64_t bytes_of(NeighborhoodProblem const& problem, int threads) {
    switch (problem.function) {
        case Forward: return forward_bytes(problem, threads);
        case Backward: return backward_bytes(problem, threads);
        default: return slot_bytes(problem, threads);
    }
}

}  // namespace

std::int64_t neighborhood_workspace(NeighborhoodProblem const& problem, int threads) {
    return Arena::workspace_bytes(bytes_of(problem, threads));
}

void neighborhood_attention(NeighborhoodProblem const& of, int threads, void* workspace) {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    switch (of.function) {
        case Forward: return run_forward(of, threads, workspace);
        case Backward: return run_backward(of, threads, workspace);
        case QkForward: return dot_pairs({of, of.attn, of.q, of.k}, of.bias, kMasked, threads, workspace);
        case QkBackward:
            sum_over_keys({of, of.d_attn, of.d_q, of.k}, threads, workspace);
            sum_over_queries({of, of.d_attn, of.q, of.d_k}, threads, workspace);
            if (of.d_bias) sum_over_pairs({of, of.d_attn, of.q, of.k}, threads, workspace);
            return;
        case AvForward: return sum_over_keys({of, of.attn, of.o, of.v}, threads, workspace);
        case AvBackward:
            dot_pairs({of, of.d_attn, of.d_o, of.v}, {}, 0.0f, threads, workspace);
            sum_over_queries({of, of.attn, of.d_o, of.d_v}, threads, workspace);
            return;
    }
}

}  // namespace cudnn_frontend::cpu
