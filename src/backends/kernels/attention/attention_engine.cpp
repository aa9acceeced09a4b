#include "kernels/attention/attention_engine.h"

#include "kernels/attention/attention_launch.h"
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
    Result<KernelChain> chain_for(plan::TensorShapes shapes) const;
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
    chain.resized = [self = *this](plan::TensorShapes shapes) { return self.chain_for(shapes); };
    return chain;
}

Result<KernelChain> ResizableAttention::chain_for(plan::TensorShapes shapes) const {
    auto other = resized(*problem, places, shapes);
    if (other.is_bad()) return other.error();
    if (sizes == OtherSizes::ThatFill && !fills(other.value(), device)) return too_few_tiles();
    ResizableAttention const resized{std::make_shared<AttentionKernelProblem const>(std::move(other).value()), places,
                                     device, OtherSizes::None};
    return resized.chain();
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
