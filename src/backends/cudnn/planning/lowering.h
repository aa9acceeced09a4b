// The way from a validated graph to the input of cuDNN's engines.
#pragma once

#include "cudnn/planning/engine.h"
#include "cudnn/quirks/versions.h"
#include "expand/expand.h"
#include "plan/seam/backend.h"

#include <optional>
#include <string_view>

namespace cudnn_frontend::cudnn {

// How operations are chosen for cuDNN.
expand::TargetAbilities expansion_for_cudnn();
// Operations in the form that cuDNN accepts on such a device, without the pass of the omitted quirk.
Result<LegalGraph> legal_graph(LegalGraph const& graph, quirks::Capabilities const& device,
                               std::string_view omitted_quirk = {});
Result<LegalGraph> op_graph_for_cudnn(nodes::ValidatedGraph const& graph, quirks::Capabilities const& device,
                                      std::string_view omitted_quirk = {});
quirks::Capabilities capabilities_of(PlanningDevice const& device);

// The table of limits; empty where the environment says that it is to be ignored.
Report limits_of(nodes::ValidatedGraph const& graph, PlanningDevice const& device, bool dynamic_shapes);
error_t check_limits(nodes::ValidatedGraph const& graph, PlanningDevice const& device, bool dynamic_shapes);

// The context of executables, without bindings and tables. A kernel that runs after the engine is compiled, unless it
// is stored.
Result<std::shared_ptr<Context>> make_context(plan::PlanningInput const& input, PlanningDevice device,
                                              LegalGraph const& legal, plan::CheckIndices check_indices,
                                              std::optional<std::string_view> stored_kernel);

Result<std::shared_ptr<LoweredWork const>> lower_for_cudnn(plan::PlanningInput const& input,
                                                           plan::CheckIndices check_indices,
                                                           std::string_view omitted_quirk);

}  // namespace cudnn_frontend::cudnn
