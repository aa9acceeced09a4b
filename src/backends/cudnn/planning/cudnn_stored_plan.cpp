#include "cudnn/planning/plan_text.h"

#include "core/process/logging.h"
#include "cudnn/library/api.h"
#include "cudnn/library/device.h"
#include "cudnn/planning/lowering.h"
#include "cudnn/planning/proposal.h"
#include "cudnn/quirks/support.h"

#include <cudnn_frontend/logging.h>

namespace cudnn_frontend::cudnn {
namespace {

// A fleet mixes boards of one kind, which run the same kernels. The log reports all other differences.
error_t check_stored_device(std::string const& made_for, Device const& here) {
    auto const [of_kernels, of_rest] = difference_of(here.json(), made_for);
    std::string const made_for_name(device_member(made_for, "deviceName"));
    if (!of_kernels.empty()) {
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                "the stored plan was made for another GPU, " + made_for_name + "; here is " + here.name() + ", with " +
                    of_kernels + ": build the graph again here, or offline for a description of this GPU"};
    }
    if (!of_rest.empty() && isLoggingEnabled()) {
        core::log_line("a stored plan for " + made_for_name + " is loaded for " + here.name() + ", with " + of_rest +
                       ", which its kernels do not depend on");
    }
    return {};
}

error_t check_stored(CudnnStoredPlan const& stored, PlanningDevice const& device, std::size_t slots) {
    std::size_t const version = device.api->get_version();
    if (stored.cudnn_version != version) {
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                "the stored plan was made with cuDNN " + version_text(stored.cudnn_version) + "; loaded is " +
                    version_text(version) + ", which cannot run it: build the graph again"};
    }
    SDPA_GRAPH_TRY(check_stored_device(stored.device, *device.device));
    for (BoundTensor const& tensor : stored.bindings.tensors) {
        bool const is_caller = tensor.source == MemorySource::Caller;
        if (is_caller && static_cast<std::size_t>(tensor.at) >= slots) {
            return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, "the stored plan is of another graph; build it again"};
        }
    }
    return {};
}

// Refuses plans that planning here would not make. The version that stored one may have known fewer quirks.
error_t check_stored_support(nodes::ValidatedGraph const& graph, CudnnStoredPlan const& stored,
                             PlanningDevice const& device) {
    SDPA_GRAPH_TRY(check_limits(graph, device, stored.dynamic_shapes));
    quirks::Quirk const* const bar = quirks::bar_on_split_keys(graph, capabilities_of(device));
    std::string const reason = reason_to_refuse(bar, stored.choice, device.api->get_version());
    if (reason.empty()) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "the engine of the stored plan, " + name_of(stored.choice) + ", " + reason + ": build the graph again"};
}

}  // namespace

Result<plan::Loaded> load_stored_plan(plan::PlanningInput const& input, std::string_view text,
                                      plan::CheckIndices check_indices) {
    auto stored = read_plan(text);
    if (stored.is_bad()) return stored.error();
    auto device = find_planning_device(input.target, input.settings.device.get());
    if (device.is_bad()) return device.error();
    auto const op_graph = op_graph_for_cudnn(input.graph, capabilities_of(device.value()));
    if (op_graph.is_bad()) return op_graph.error();
    SDPA_GRAPH_TRY(check_stored(stored.value(), device.value(), op_graph.value().graph.bindings().size()));
    SDPA_GRAPH_TRY(check_stored_support(input.graph, stored.value(), device.value()));
    auto engine = EnginePlan::load(*device.value().api, stored.value().choice, stored.value().engine_plan,
                                   input.target.handle(), device.value().device.get());
    if (engine.is_bad()) return engine.error();
    auto tables = tables_for(device.value(), stored.value().bindings);
    if (tables.is_bad()) return tables.error();
    auto made = make_context(input, std::move(device).value(), op_graph.value(), check_indices, stored.value().kernel);
    if (made.is_bad()) return made.error();
    std::shared_ptr<Context> const context = std::move(made).value();
    context->bindings = std::move(stored.value().bindings);
    context->tables = std::move(tables).value();
    context->dynamic_shapes = stored.value().dynamic_shapes;
    EngineConfig const config = engine.value()->config();
    auto executable = std::make_shared<CudnnExecutable const>(context, std::move(engine).value());
    return plan::Loaded{std::make_shared<LoadedProposal const>(context->layout),
                        std::make_shared<LoadedEngine>(*context, config, std::move(executable))};
}

}  // namespace cudnn_frontend::cudnn
