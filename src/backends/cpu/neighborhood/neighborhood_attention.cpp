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

void neighborhood_attention(NeighborhoodProblem const& of, int threads, void* workspace) {
    constexpr float kMasked = -std::numeric_limits<float>::infinity();
    switch (of.function) {
        case Forward: return run_forward(of, threads, workspace);
        case Backward: return run_backward(of, threads, workspace);
        case Qk: return dot_pairs({of, of[Attn], of[Q], of[K]}, of[RelPosBias], kMasked, threads, workspace);
        case QkBackward:
            sum_over_keys({of, of[DAttn], of[DQ], of[K]}, threads, workspace);
            sum_over_queries({of, of[DAttn], of[Q], of[DK]}, threads, workspace);
            if (of[DRelPosBias]) sum_over_pairs({of, of[DAttn], of[Q], of[K]}, threads, workspace);
            return;
        case Av: return sum_over_keys({of, of[Attn], of[O], of[V]}, threads, workspace);
        case AvBackward:
            dot_pairs({of, of[DAttn], of[DO], of[V]}, {}, 0.0f, threads, workspace);
            sum_over_queries({of, of[Attn], of[DO], of[DV]}, threads, workspace);
            return;
    }
}

}  // namespace cudnn_frontend::cpu
