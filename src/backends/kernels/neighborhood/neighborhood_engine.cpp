#include "kernels/neighborhood/neighborhood_engine.h"

#include "kernels/neighborhood/neighborhood_forms.h"

#include <utility>

namespace cudnn_frontend::kernels {

std::string engine_name(NeighborhoodForm form) { return std::string("neighborhood_") + to_string(form); }

KernelChain neighborhood_chain(NeighborhoodSteps steps, DeviceFacts const& device) {
    KernelChain chain;
    chain.info = {
        .name = engine_name(steps.form),
        .behavior_notes = {BehaviorNote_t::RUNTIME_COMPILATION, BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API},
        .workspace_bytes = steps.workspace_bytes,
        .is_deterministic = steps.is_deterministic()};
    if (!chain.info.is_deterministic) chain.info.numerical_notes = {NumericalNote_t::NONDETERMINISTIC};
    chain.reason_against = steps.reason_against(device);
    for (NeighborhoodStep& step : steps.steps) {
        auto make = [problem = std::move(step.problem), form = steps.form,
                     device](std::optional<std::string_view> stored) {
            return stored ? load_neighborhood(problem, form, device, *stored)
                          : compile_neighborhood(problem, form, device);
        };
        chain.kernels.push_back({std::move(make), std::move(step.places)});
    }
    return chain;
}

}  // namespace cudnn_frontend::kernels
