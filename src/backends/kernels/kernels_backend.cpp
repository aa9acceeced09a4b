#include "kernels/kernels_backend.h"

#include "expand/expand.h"
#include "kernels/joints/joint_kernels.h"
#include "kernels/kernel_costs.h"
#include "kernels/neighborhood/neighborhood_engine.h"
#include "kernels/neighborhood/neighborhood_forms.h"

#include <algorithm>
#include <string>
#include <utility>

namespace cudnn_frontend::kernels {
namespace {

Result<std::shared_ptr<plan::PackLayout const>> layout_of(nodes::ValidatedGraph const& graph) {
    auto const op_graph = expand::expand(graph, {});
    if (op_graph.is_bad()) return op_graph.error();
    auto layout = std::make_shared<plan::PackLayout>(plan::make_pack_layout(graph.spec(), op_graph.value()));
    layout->host_memory = plan::HostMemory::ScalarsByValue;
    return std::shared_ptr<plan::PackLayout const>(std::move(layout));
}

error_t check_stored(plan::Stored const& stored, NeighborhoodSteps const& steps, cuda::DeviceFacts const& device) {
    std::string const reason = steps.reason_against(device);
    if (reason.empty()) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the stored plan is of the engine '" + stored.engine + "', but " +
                                                   reason + "; plan the graph again and store that plan"};
}

// Proposes the engines of all forms, or the one of a stored plan.
Result<plan::Loaded> propose_engines(plan::PlanningInput const& input, Devices const& devices,
                                     plan::Stored const* stored) {
    auto device = devices.find(input.target, input.settings);
    if (device.is_bad()) return device.error();
    auto const layout = layout_of(input.graph);
    if (layout.is_bad()) return layout.error();
    plan::Engines engines;
    for (NeighborhoodForm const form : kNeighborhoodForms) {
        if (stored != nullptr && stored->engine != engine_name(form)) continue;
        auto steps = neighborhood_steps(input.graph, form);
        if (steps.is_bad()) return steps.error();
        if (stored != nullptr) SDPA_GRAPH_TRY(check_stored(*stored, steps.value(), device.value().facts));
        std::optional<std::string> code;
        if (stored != nullptr) code = stored->bytes;
        engines.push_back(
            std::make_shared<ChainEngine>(neighborhood_chain(std::move(steps).value(), device.value().facts),
                                          device.value(), layout.value(), std::move(code)));
    }
    if (engines.empty()) {
        return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                       "the stored plan is of the engine '" + stored->engine + "', which kernels do not have");
    }
    auto const best = engines.front();
    return plan::Loaded{std::make_shared<plan::Proposal const>(layout.value(), std::move(engines)), best};
}

}  // namespace

bool KernelsBackend::serves(Target const& target) const {
    bool const has_handle = target.kind() == Target::Kind::CUDA || target.kind() == Target::Kind::OFFLINE;
    return target.kind() == Target::Kind::STREAM || (has_handle && devices_.has_handles);
}

bool KernelsBackend::takes(nodes::ValidatedGraph const& graph) const { return is_neighborhood(graph); }

Result<std::shared_ptr<plan::Proposal const>> KernelsBackend::propose(plan::PlanningInput const& input) const {
    SDPA_GRAPH_TRY(check_compiler());
    auto proposed = propose_engines(input, devices_, nullptr);
    if (proposed.is_bad()) return proposed.error();
    return std::move(proposed).value().proposal;
}

bool KernelsBackend::may_have_engine(std::string_view name) const {
    return std::ranges::any_of(kNeighborhoodForms, [&](NeighborhoodForm form) { return name == engine_name(form); });
}

Result<plan::Loaded> KernelsBackend::load(plan::PlanningInput const& input, plan::Stored const& stored) const {
    return propose_engines(input, devices_, &stored);
}

std::optional<std::string> KernelsBackend::circumstances(Target const& target, plan::Settings const& settings) const {
    auto identity = devices_.identity(target, settings);
    if (identity.is_bad()) return std::nullopt;
    return std::move(identity).value();
}

std::unique_ptr<rewrite::Costs const> KernelsBackend::costs(Target const& target,
                                                            plan::Settings const& settings) const {
    auto const device = devices_.find(target, settings);
    if (device.is_bad()) return nullptr;
    cuda::DeviceFacts const& facts = device.value().facts;
    auto const rates = read_rates(facts.rates);
    if (!rates) return nullptr;
    return std::make_unique<KernelCosts>(*rates, facts, plan::multiprocessors_of(facts.multiprocessors, settings));
}

bool KernelsBackend::joins(Target const& target) const { return serves(target); }

error_t KernelsBackend::check_joints() const { return check_compiler(); }

Result<std::shared_ptr<plan::Executable const>> KernelsBackend::join(rewrite::Joint const& joint, Target const& target,
                                                                     plan::Settings const& settings,
                                                                     std::optional<std::string_view> stored) const {
    auto const device = devices_.find(target, settings);
    if (device.is_bad()) return device.error();
    return kernels::join(joint, device.value().facts, stored);
}

}  // namespace cudnn_frontend::kernels
