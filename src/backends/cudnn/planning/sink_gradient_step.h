// The gradient of a sink, by a kernel of this library's after the engine.
#pragma once

#include "cudnn/passes/legal_graph.h"
#include "cudnn/planning/step_beside.h"
#include "kernels/launch/kernel.h"

#include <optional>
#include <string_view>

namespace cudnn_frontend::cudnn {

// For a graph that has a separate gradient of the sink. Compiles the kernel, unless `stored` has what serialize()
// returned.
Result<std::shared_ptr<StepBeside const>> sink_gradient_step(LegalGraph const& graph, plan::PackLayout const& layout,
                                                             kernels::DeviceFacts const& device,
                                                             std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::cudnn
