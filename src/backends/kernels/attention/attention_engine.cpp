#include "kernels/attention/attention_engine.h"

#include "kernels/attention/attention_launch.h"

#include <utility>

namespace cudnn_frontend::kernels {

static std::int64_t shared_bytes_of(AttentionKernelProblem const& problem) {
    auto const [columns, value_columns] = *class_of(problem);
    return attention_shared_bytes(columns, value_columns);
}

KernelChain attention_chain(AttentionGraph graph, DeviceFacts const& device) {
    KernelChain chain;
    chain.info = {
        .name = kAttentionEngine,
        .behavior_notes = {BehaviorNote_t::RUNTIME_COMPILATION, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API},
        .numerical_notes = {NumericalNote_t::TENSOR_CORE},
        .shared_memory_bytes = shared_bytes_of(graph.problem)};
    auto make = [problem = std::move(graph.problem), device](std::optional<std::string_view> stored) {
        return stored ? load_attention(problem, device, *stored) : compile_attention(problem, device);
    };
    chain.kernels.push_back({std::move(make), std::move(graph.places)});
    return chain;
}

}  // namespace cudnn_frontend::kernels
