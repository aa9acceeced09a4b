#include "cpu/neighborhood/neighborhood_attention.h"

#include "cpu/attention/attention_scratch.h"
#include "cpu/neighborhood/neighborhood_passes.h"

#include <limits>

namespace cudnn_frontend::cpu {

using enum neighborhood::Port;

namespace {

using enum neighborhood::Function;

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

void neighborhood_attention(NeighborhoodProblem const& problem, int threads, void* workspace) {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    switch (problem.function) {
        case Forward: return run_forward(problem, threads, workspace);
        case Backward: return run_backward(problem, threads, workspace);
        case Qk:
            return dot_pairs({problem, problem[Attn], problem[Q], problem[K]}, problem[RelPosBias], kMasked, threads,
                             workspace);
        case QkBackward:
            sum_over_keys({problem, problem[DAttn], problem[DQ], problem[K]}, threads, workspace);
            sum_over_queries({problem, problem[DAttn], problem[Q], problem[DK]}, threads, workspace);
            if (problem[DRelPosBias]) {
                sum_over_pairs({problem, problem[DAttn], problem[Q], problem[K]}, threads, workspace);
            }
            return;
        case Av: return sum_over_keys({problem, problem[Attn], problem[O], problem[V]}, threads, workspace);
        case AvBackward:
            dot_pairs({problem, problem[DAttn], problem[DO], problem[V]}, {}, 0.0f, threads, workspace);
            sum_over_queries({problem, problem[Attn], problem[DO], problem[DV]}, threads, workspace);
            return;
    }
}

}  // namespace cudnn_frontend::cpu
