#include "kernels/attention/attention_engine.h"

#include "kernels/attention/attention_launch.h"

#include <memory>
#include <utility>

namespace cudnn_frontend::kernels {

static plan::EngineInfo info_of(AttentionKernelProblem const& problem) {
    plan::EngineInfo info{
        .name = kAttentionEngine,
        .behavior_notes = {BehaviorNote_t::RUNTIME_COMPILATION, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API},
        .numerical_notes = {NumericalNote_t::TENSOR_CORE},
        .workspace_bytes = workspace_of(problem).bytes,
        .shared_memory_bytes = shared_bytes_of(problem),
        .is_deterministic = !problem.is_backward || problem.is_deterministic};
    if (!info.is_deterministic) info.numerical_notes.push_back(NumericalNote_t::NONDETERMINISTIC);
    return info;
}

KernelChain attention_chain(AttentionGraph graph, DeviceFacts const& device) {
    auto const problem = std::make_shared<AttentionKernelProblem const>(std::move(graph.problem));
    KernelChain chain{.info = info_of(*problem), .reason_against = {}, .kernels = {}};
    for (AttentionWork const work : works_of(*problem)) {
        auto make = [problem, work, device](std::optional<std::string_view> stored) {
            return make_kernel(problem, work, device, stored);
        };
        chain.kernels.push_back({std::move(make), graph.places});
    }
    return chain;
}

}  // namespace cudnn_frontend::kernels
