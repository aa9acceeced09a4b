// The gradient of a sink, by a kernel of this library's behind the engine.
#pragma once

#include "cudnn/passes/legal_graph.h"
#include "cudnn/planning/step_beside.h"
#include "kernels/kernel.h"

#include <optional>
#include <string_view>

namespace cudnn_frontend::cudnn {

// Of a graph that has one. Compiles the kernel, unless it is stored: as what serialize() gave.
Result<std::shared_ptr<StepBeside const>> sink_gradient_step(LegalGraph const& graph, plan::PackLayout const& layout,
                                                             kernels::DeviceFacts const& device,
                                                             std::optional<std::string_view> stored);

}  // namespace cudnn_frontend::cudnn
