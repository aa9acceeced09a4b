#include "kernels/attention/attention_graph.h"
#include "kernels/attention/attention_resizing.h"

#include <memory>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

plan::EngineInfo info_of(AttentionKernelProblem const& problem) {
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

// An attention, with the means to make its chain for other sizes.
struct ResizableAttention {
    AttentionProblemPointer problem;
    std::vector<KernelPlace> places;
    DeviceFacts device;
    OtherSizes sizes;

    KernelChain chain() const;
    Result<ResizedKernels> kernels_for(plan::TensorShapes shapes, std::span<KernelPointer const> kernels) const;
};

KernelChain ResizableAttention::chain() const {
    KernelChain chain{.info = info_of(*problem), .reason_against = {}, .kernels = {}};
    for (AttentionWork const work : works_of(*problem)) {
        auto make = [problem = problem, work, device = device](std::optional<std::string_view> stored) {
            return make_kernel(problem, work, device, stored);
        };
        chain.kernels.push_back({std::move(make), places});
    }
    if (sizes == OtherSizes::None) return chain;
    chain.resized = [self = *this](plan::TensorShapes shapes, std::span<KernelPointer const> kernels) {
        return self.kernels_for(shapes, kernels);
    };
    return chain;
}

// The kernels' code does not depend on sizes, and nor does which kernels there are.
Result<ResizedKernels> ResizableAttention::kernels_for(plan::TensorShapes shapes,
                                                       std::span<KernelPointer const> kernels) const {
    auto other = resized(*problem, places, shapes);
    if (other.is_bad()) return other.error();
    if (sizes == OtherSizes::ThatFill && !fills(other.value(), device)) return too_few_tiles();
    auto const now = std::make_shared<AttentionKernelProblem const>(std::move(other).value());
    ResizedKernels all{.kernels = {}, .workspace_bytes = workspace_of(*now).bytes};
    for (AttentionWork const work : works_of(*now)) {
        all.kernels.push_back(make_kernel(now, work, device, kernels[all.kernels.size()]->code()));
    }
    return all;
}

}  // namespace

error_t too_few_tiles() {
    return {error_code_t::HEURISTIC_QUERY_FAILED,
            "the engine 'attention' has too few tiles here for the multiprocessors"};
}

KernelChain attention_chain(AttentionGraph graph, DeviceFacts const& device, OtherSizes sizes) {
    auto problem = std::make_shared<AttentionKernelProblem const>(std::move(graph.problem));
    return ResizableAttention{std::move(problem), std::move(graph.places), device, sizes}.chain();
}

}  // namespace cudnn_frontend::kernels
