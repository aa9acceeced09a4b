#include "cudnn/planning/lowering.h"

#include "core/process/process_settings.h"
#include "cuda/driver.h"
#include "cudnn/library/library.h"
#include "cudnn/passes/passes.h"
#include "cudnn/planning/shared_graph.h"
#include "cudnn/planning/steps/extra_step.h"
#include "cudnn/quirks/support.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/wording.h"
#include "plan/seam/kernel_cache.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

// Engines read matrices in pieces, and everything else element by element.
void align_matrices(std::vector<plan::Slot>& slots, ir::OpGraph const& graph) {
    auto const align = [&](ir::ValueId id) {
        if (id == ir::kNoValue) return;
        std::int64_t const uid = graph.value(graph.storage_of(id)).uid;
        for (plan::Slot& slot : slots) {
            if (slot.uid == uid) slot.alignment = std::max(slot.alignment, attention::kMatrixAlignment);
        }
    };
    for (ir::Op const& op : graph.ops()) {
        if (auto const* const matmul = std::get_if<ir::MatmulOp>(&op.body)) {
            for (ir::ValueId const id : {matmul->a, matmul->b, matmul->c}) align(id);
        } else if (auto const* const load = std::get_if<ir::PagedLoadOp>(&op.body)) {
            align(load->container);
        } else if (auto const* const sdpa = std::get_if<ir::SdpaForwardOp>(&op.body)) {
            using attention::Port;
            for (Port const port : {Port::Q, Port::K, Port::V, Port::O}) align(sdpa->operands[port]);
        }
    }
}

// The alignments of addresses that the user guarantees.
Alignments alignments_of(ir::OpGraph const& graph, nodes::GraphSpec const& spec) {
    Alignments alignments;
    for (nodes::TensorSpec const& tensor : spec.tensors) {
        if (tensor.alignment == kAlignment) continue;
        auto const bound = std::ranges::find(graph.bindings(), tensor.uid.value_or(-1), &ir::Binding::uid);
        if (bound != graph.bindings().end()) alignments.emplace(bound->value, tensor.alignment);
    }
    return alignments;
}

error_t check_sm_version(plan::Settings const& settings, Device const& device) {
    if (settings.sm_version == 0 || settings.sm_version == device.sm()) return {};
    return {error_code_t::INVALID_VALUE,
            "set_sm_version(" + std::to_string(settings.sm_version) + ") was called, but the device, " + device.name() +
                ", has version " + std::to_string(device.sm()) +
                "; leave the call out, or describe another device with set_device_properties()"};
}

error_t check_kernel_cache(plan::Settings const& settings) {
    if (!settings.kernel_cache) return {};
    if (!detail::Kernel_cache_access::impl(*settings.kernel_cache)) {
        return {error_code_t::INVALID_VALUE,
                "the kernel cache was moved from; pass the one that it moved to, or a new one, to set_kernel_cache()"};
    }
    if (settings.dynamic_shapes) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "a kernel cache is set, but dynamic shapes are not enabled; cuDNN shares kernels between graphs with "
            "set_dynamic_shape_enabled(true) alone"};
}

// Plans that are compiled into a kernel cache of the user's live as long as that one.
Result<std::shared_ptr<SharedGraph>> lowered_graph(GraphKey key, plan::Settings const& settings) {
    return settings.kernel_cache ? SharedGraph::lower(std::move(key)) : find_or_lower(key);
}

Result<std::shared_ptr<Context const>> context_of(plan::PlanningInput const& input, SharedGraph const& graph,
                                                  plan::CheckIndices check_indices) {
    auto made = make_context(input, graph.key().device, graph.key().legal_graph, check_indices, std::nullopt);
    if (made.is_bad()) return made.error();
    std::shared_ptr<Context> const context = std::move(made).value();
    context->bindings = graph.bindings();
    context->tables = graph.tables();
    context->dynamic_shapes = graph.key().dynamic_shapes;
    return std::shared_ptr<Context const>(context);
}

// Loaded where the device is there, so that the first run may be captured.
Result<std::shared_ptr<ExtraStep const>> loaded_sink_gradient_step(LegalGraph const& graph,
                                                                   plan::PackLayout const& layout,
                                                                   PlanningDevice const& device,
                                                                   std::optional<std::string_view> stored) {
    auto const facts = facts_of(*device.device);
    if (facts.is_bad()) return facts.error();
    auto step = sink_gradient_step(graph, layout, facts.value(), stored);
    if (step.is_bad() || !device.is_live) return step;
    SDPA_GRAPH_TRY(cuda::use_device(device.device->ordinal()));
    SDPA_GRAPH_TRY(step.value()->load());
    return step;
}

// These nodes expand to tensors with more dims than attention's, for which cuDNN's errors are less clear.
error_t check_neighborhoods(nodes::ValidatedGraph const& graph) {
    for (nodes::Node const& node : graph.spec().nodes) {
        if (nodes::neighborhood_fields(node) == nullptr) continue;
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                "the node is of neighborhood attention, for which cuDNN has no operation; as the only node of a graph, "
                "kernels of this library run it on a GPU, and Target::cpu() runs any graph",
                {.node = nodes::label(node)}};
    }
    return {};
}

}  // namespace

expand::TargetAbilities expansion_for_cudnn() {
    return {.fused_attention = expand::TargetAbilities::Fused::OnRequest, .needs_fused = nodes::needs_unified};
}

Result<LegalGraph> legal_graph(LegalGraph const& graph, quirks::Capabilities const& device,
                               std::string_view omitted_quirk) {
    auto const is_in_force = [&](std::string_view quirk) {
        return quirk != omitted_quirk && quirks::is_in_force(quirk, device);
    };
    return passes::legalize(graph, is_in_force);
}

Result<LegalGraph> op_graph_for_cudnn(nodes::ValidatedGraph const& graph, quirks::Capabilities const& device,
                                      std::string_view omitted_quirk) {
    SDPA_GRAPH_TRY(check_neighborhoods(graph));
    auto op_graph = expand::expand(graph, expansion_for_cudnn());
    if (op_graph.is_bad()) return op_graph.error();
    auto alignments = alignments_of(op_graph.value(), graph.spec());
    return legal_graph({std::move(op_graph).value(), std::move(alignments)}, device, omitted_quirk);
}

quirks::Capabilities capabilities_of(PlanningDevice const& device) {
    return {.cudnn_version = device.api->get_version(), .sm = device.device->sm()};
}

Report limits_of(nodes::ValidatedGraph const& graph, PlanningDevice const& device, bool dynamic_shapes) {
    if (core::process::ignores_limits.get()) return {};
    return quirks::check(graph, capabilities_of(device), {.dynamic_shapes = dynamic_shapes});
}

error_t check_limits(nodes::ValidatedGraph const& graph, PlanningDevice const& device, bool dynamic_shapes) {
    return limits_of(graph, device, dynamic_shapes).to_error();
}

Result<std::shared_ptr<Context>> make_context(plan::PlanningInput const& input, PlanningDevice device,
                                              LegalGraph const& legal, plan::CheckIndices check_indices,
                                              std::optional<std::string_view> stored_kernel) {
    ir::OpGraph const& op_graph = legal.graph;
    plan::PackLayout layout = plan::make_pack_layout(input.graph.spec(), op_graph);
    layout.host_memory = plan::HostMemory::ScalarsByValue;
    align_matrices(layout.slots, op_graph);
    auto context = std::make_shared<Context>();
    auto clearing = clearing_of(legal, layout);
    if (clearing.is_bad()) return clearing.error();
    if (clearing.value()) context->before.push_back(std::move(clearing).value());
    if (legal.sink_gradient) {
        auto step = loaded_sink_gradient_step(legal, layout, device, stored_kernel);
        if (step.is_bad()) return step.error();
        context->behind.push_back(std::move(step).value());
    }
    context->device = std::move(device);
    context->layout = std::make_shared<plan::PackLayout const>(std::move(layout));
    if (core::process::checks_indices.get()) context->checked_graph = std::make_shared<ir::OpGraph const>(op_graph);
    context->check_indices = check_indices;
    context->is_deterministic = quirks::is_deterministic(input.graph);
    return context;
}

Result<std::shared_ptr<LoweredWork const>> lower_for_cudnn(plan::PlanningInput const& input,
                                                           plan::CheckIndices check_indices,
                                                           std::string_view omitted_quirk) {
    auto device = find_planning_device(input.target, input.settings.device.get());
    if (device.is_bad()) return device.error();
    SDPA_GRAPH_TRY(check_kernel_cache(input.settings));
    SDPA_GRAPH_TRY(check_sm_version(input.settings, *device.value().device));
    SDPA_GRAPH_TRY(plan::check_sm_count(input.settings));
    SDPA_GRAPH_TRY(check_limits(input.graph, device.value(), input.settings.dynamic_shapes));
    SDPA_GRAPH_TRY(check_engines());
    auto op_graph = op_graph_for_cudnn(input.graph, capabilities_of(device.value()), omitted_quirk);
    if (op_graph.is_bad()) return op_graph.error();
    auto graph = lowered_graph(
        {std::move(op_graph).value(), std::move(device).value(), input.settings.dynamic_shapes, input.settings.sm_count,
         std::ranges::any_of(input.graph.spec().nodes, nodes::unfuses_multiplication)},
        input.settings);
    if (graph.is_bad()) return graph.error();
    auto work = std::make_shared<LoweredWork>();
    work->graph = std::move(graph).value();
    if (input.settings.kernel_cache) {
        SDPA_GRAPH_TRY(kernels_for(*input.settings.kernel_cache, *work->graph).move_to(work->kernel_cache));
    }
    work->bar_on_split_keys = quirks::bar_on_split_keys(input.graph, capabilities_of(work->graph->key().device));
    SDPA_GRAPH_TRY(context_of(input, *work->graph, check_indices).move_to(work->context));
    return std::shared_ptr<LoweredWork const>(std::move(work));
}

}  // namespace cudnn_frontend::cudnn
