#include "pipeline/with_cudnn/lowering.h"

#include "core/environment.h"
#include "core/logging.h"
#include "cudnn/library/device_text.h"
#include "cudnn/library/library.h"
#include "cudnn/library/status.h"
#include "cudnn/quirks/support.h"
#include "expand/expand.h"
#include "pipeline/kernel_cache.h"
#include "pipeline/with_cudnn/graph_cache.h"
#include "pipeline/with_cudnn/kernel_store.h"
#include "pipeline/with_cudnn/plan_text.h"

#include <cudnn_frontend/logging.h>

#include <algorithm>

namespace cudnn_frontend::pipeline {
namespace {

// Matrix operands are read in pieces of this many bytes; everything else element by element.
constexpr std::int64_t kMatrixAlignment = 16;

void align_matrices(std::vector<Slot>& slots, ir::OpGraph const& graph) {
    auto const align = [&](ir::ValueId id) {
        if (id == ir::kNoValue) return;
        std::int64_t const uid = graph.value(graph.storage_of(id)).uid;
        for (Slot& slot : slots) {
            if (slot.uid == uid) slot.alignment = std::max(slot.alignment, kMatrixAlignment);
        }
    };
    for (ir::Op const& op : graph.ops()) {
        if (auto const* const matmul = std::get_if<ir::MatmulOp>(&op.body)) {
            for (ir::ValueId const id : {matmul->a, matmul->b, matmul->c}) align(id);
        } else if (auto const* const load = std::get_if<ir::PagedLoadOp>(&op.body)) {
            align(load->container);
        } else if (auto const* const sdpa = std::get_if<ir::SdpaForwardOp>(&op.body)) {
            for (ir::ValueId const id : {sdpa->q, sdpa->k, sdpa->v, sdpa->o}) align(id);
        }
    }
}

// What plans run with, however they were made.
std::shared_ptr<CudnnContext const> make_context(PlanningInput const& input, PlanningDevice device,
                                                 ir::OpGraph const& op_graph, cudnn::Bindings bindings,
                                                 std::shared_ptr<DeviceTables const> tables, bool dynamic_shapes) {
    auto context = std::make_shared<CudnnContext>();
    context->device = std::move(device);
    context->layout = make_pack_layout(input.graph_id, input.graph.spec(), op_graph);
    align_matrices(context->layout.slots, op_graph);
    context->bindings = std::move(bindings);
    context->dynamic_shapes = dynamic_shapes;
    if (core::environment::checks_indices()) context->checked_graph = std::make_shared<ir::OpGraph const>(op_graph);
    context->is_deterministic = quirks::is_deterministic(input.graph);
    context->tables = std::move(tables);
    return context;
}

core::Capabilities capabilities_of(PlanningDevice const& device) {
    return {.cudnn_version = device.api->get_version(), .sm = device.device->sm()};
}

error_t check_support(nodes::ValidatedGraph const& graph, PlanningDevice const& device, bool dynamic_shapes) {
    if (core::environment::ignores_limits()) return {};
    return quirks::check(graph, capabilities_of(device), {.dynamic_shapes = dynamic_shapes}).to_error();
}

error_t check_sm_version(graph::PlanSettings const& settings, cudnn::Device const& device) {
    if (settings.sm_version == 0 || settings.sm_version == device.sm()) return {};
    return {error_code_t::INVALID_VALUE,
            "set_sm_version(" + std::to_string(settings.sm_version) + ") was called, but the device, " + device.name() +
                ", has version " + std::to_string(device.sm()) +
                "; leave the call out, or describe another device with set_device_properties()"};
}

error_t check_kernel_cache(graph::PlanSettings const& settings) {
    if (!settings.kernel_cache) return {};
    if (!detail::Kernel_cache_access::impl(*settings.kernel_cache)) {
        return {error_code_t::INVALID_VALUE,
                "the kernel cache was moved to another object, which left none; give the graph that one with "
                "set_kernel_cache(), or a new one"};
    }
    if (settings.dynamic_shapes) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "a kernel cache is set, but dynamic shapes are not enabled; cuDNN shares kernels between graphs with "
            "set_dynamic_shape_enabled(true) alone"};
}

// A fleet mixes boards of one kind, which run the same kernels: what else differs is told in the log.
error_t check_stored_device(std::string const& made_for, cudnn::Device const& here) {
    auto const [of_kernels, of_rest] = cudnn::difference_of(here.json(), made_for);
    std::string const made_for_name(cudnn::device_member(made_for, "deviceName"));
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

error_t check_stored(StoredPlan const& stored, PlanningDevice const& device, std::size_t slots) {
    std::size_t const version = device.api->get_version();
    if (stored.cudnn_version != version) {
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                "the stored plan was made with cuDNN " + cudnn::version_text(stored.cudnn_version) + "; loaded is " +
                    cudnn::version_text(version) + ", which cannot run it: build the graph again"};
    }
    SDPA_GRAPH_TRY(check_stored_device(stored.device, *device.device));
    for (cudnn::BoundTensor const& tensor : stored.bindings.tensors) {
        bool const is_caller = tensor.source == cudnn::Source::Caller;
        if (is_caller && static_cast<std::size_t>(tensor.at) >= slots) {
            return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, "the stored plan is of another graph; build it again"};
        }
    }
    return {};
}

// What planning here would refuse: whoever stored the plan may have known less of cuDNN's faults, or ignored them.
error_t check_stored_support(nodes::ValidatedGraph const& graph, StoredPlan const& stored,
                             PlanningDevice const& device) {
    SDPA_GRAPH_TRY(check_support(graph, device, stored.dynamic_shapes));
    std::string const reason =
        reason_to_refuse(quirks::is_wrong_in_parts(graph), stored.choice, device.api->get_version());
    if (reason.empty()) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the engine of the stored plan, " + cudnn::name_of(stored.choice) +
                                                   ", " + reason + ": build the graph again"};
}

}  // namespace

expand::Capabilities expansion_for_cudnn(core::Capabilities const& device) {
    return {.fused_attention = expand::Capabilities::Fused::OnRequest,
            .full_lengths_in_backward = true,
            .masks_last_tile = quirks::masks_last_tile(device),
            .packed_scratch = quirks::takes_packed_scratch(device)};
}

// Plans that are compiled into a kernel cache of the user's last as long as that one.
static Result<std::shared_ptr<SharedGraph>> lowered_graph(GraphKey key, graph::PlanSettings const& settings) {
    if (settings.kernel_cache) return SharedGraph::lower(std::move(key));
    return GraphCache::of_process().find_or_lower(std::move(key));
}

Result<std::shared_ptr<CudnnWork const>> lower_for_cudnn(PlanningInput const& input) {
    auto device = find_planning_device(input.target, input.settings.device.get());
    if (device.is_bad()) return device.error();
    SDPA_GRAPH_TRY(check_kernel_cache(input.settings));
    SDPA_GRAPH_TRY(check_sm_version(input.settings, *device.value().device));
    SDPA_GRAPH_TRY(check_support(input.graph, device.value(), input.settings.dynamic_shapes));
    SDPA_GRAPH_TRY(cudnn::check_engines());
    auto op_graph = expand::expand(input.graph, expansion_for_cudnn(capabilities_of(device.value())));
    if (op_graph.is_bad()) return op_graph.error();
    auto graph = lowered_graph({std::move(op_graph).value(), std::move(device).value(), input.settings.dynamic_shapes,
                                input.settings.sm_count},
                               input.settings);
    if (graph.is_bad()) return graph.error();
    auto work = std::make_shared<CudnnWork>();
    work->graph = std::move(graph).value();
    if (input.settings.kernel_cache) {
        SDPA_GRAPH_TRY(kernels_for(*input.settings.kernel_cache, *work->graph).move_to(work->kernel_cache));
    }
    work->is_wrong_in_parts = quirks::is_wrong_in_parts(input.graph);
    SharedGraph const& shared = *work->graph;
    work->context = make_context(input, shared.key().device, shared.key().op_graph, shared.bindings(), shared.tables(),
                                 shared.key().dynamic_shapes);
    return std::shared_ptr<CudnnWork const>(std::move(work));
}

Result<LoadedPlan> load_for_cudnn(PlanningInput const& input, std::string const& text) {
    auto stored = read_plan(text);
    if (stored.is_bad()) return stored.error();
    auto device = find_planning_device(input.target, input.settings.device.get());
    if (device.is_bad()) return device.error();
    auto const op_graph = expand::expand(input.graph, expansion_for_cudnn(capabilities_of(device.value())));
    if (op_graph.is_bad()) return op_graph.error();
    SDPA_GRAPH_TRY(check_stored(stored.value(), device.value(), op_graph.value().bindings().size()));
    SDPA_GRAPH_TRY(check_stored_support(input.graph, stored.value(), device.value()));
    auto engine = cudnn::EnginePlan::load(*device.value().api, stored.value().choice, stored.value().engine_plan,
                                          input.target.handle(), device.value().device.get());
    if (engine.is_bad()) return engine.error();
    auto tables = tables_for(device.value(), stored.value().bindings);
    if (tables.is_bad()) return tables.error();
    auto work = std::make_shared<CudnnWork>();
    work->context = make_context(input, std::move(device).value(), op_graph.value(), std::move(stored.value().bindings),
                                 std::move(tables).value(), stored.value().dynamic_shapes);
    auto plan = std::make_shared<CudnnPlan const>(work->context, std::move(engine).value());
    return LoadedPlan{std::move(work), std::move(plan)};
}

}  // namespace cudnn_frontend::pipeline
