#include "kernels/kernels_backend.h"

#include "core/text.h"
#include "cuda/driver.h"
#include "expand/expand.h"
#include "kernels/attention/attention_graph.h"
#include "kernels/joints/joint_kernels.h"
#include "kernels/kernel_costs.h"
#include "kernels/neighborhood/neighborhood_engine.h"
#include "kernels/neighborhood/neighborhood_forms.h"
#include "plan/storage/store_entry.h"

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

error_t no_such_engine(plan::Stored const& stored) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "the stored plan is of the engine '" + stored.engine + "', which kernels do not have"};
}

plan::Loaded loaded_of(std::shared_ptr<plan::PackLayout const> layout, plan::Engines engines,
                       std::string advantage = {}) {
    auto const best = engines.front();
    return {std::make_shared<plan::Proposal const>(std::move(layout), std::move(engines), std::move(advantage)), best};
}

std::optional<std::string> code_of(plan::Stored const* stored) {
    return stored != nullptr ? std::optional(stored->bytes) : std::nullopt;
}

// Proposes the engines of all forms, or the one of a stored plan.
Result<plan::Loaded> propose_neighborhoods(plan::PlanningInput const& input, QueueDevice const& device,
                                           plan::Stored const* stored) {
    if (stored == nullptr) SDPA_GRAPH_TRY(check_compiler());
    auto const layout = layout_of(input.graph);
    if (layout.is_bad()) return layout.error();
    plan::Engines engines;
    for (NeighborhoodForm const form : kNeighborhoodForms) {
        if (stored != nullptr && stored->engine != engine_name(form)) continue;
        auto steps = neighborhood_steps(input.graph, form);
        if (steps.is_bad()) return steps.error();
        if (stored != nullptr) SDPA_GRAPH_TRY(check_stored(*stored, steps.value(), device.facts));
        engines.push_back(std::make_shared<ChainEngine>(neighborhood_chain(std::move(steps).value(), device.facts),
                                                        device, layout.value(), code_of(stored)));
    }
    if (engines.empty()) return no_such_engine(*stored);
    return loaded_of(layout.value(), std::move(engines));
}

error_t check_sm_version(std::int32_t version, cuda::DeviceFacts const& device) {
    if (version == 0 || version == device.compute_capability) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "set_sm_version(" + std::to_string(version) + ") was called, but the device has compute capability " +
                std::to_string(device.compute_capability / 10) + "." + std::to_string(device.compute_capability % 10)};
}

// The device with as many multiprocessors as plans are made for.
Result<cuda::DeviceFacts> planned_device(plan::PlanningInput const& input, QueueDevice const& device) {
    SDPA_GRAPH_TRY(check_sm_version(input.settings.sm_version, device.facts));
    SDPA_GRAPH_TRY(plan::check_sm_count(input.settings));
    cuda::DeviceFacts facts = device.facts;
    facts.multiprocessors = plan::multiprocessors_of(facts.multiprocessors, input.settings);
    return facts;
}

plan::Loaded attention_of(AttentionGraph read, QueueDevice const& device, cuda::DeviceFacts const& facts,
                          OtherSizes sizes, plan::Stored const* stored) {
    std::string advantage = fills(read.problem, facts) ? advantage_of(read.problem) : "";
    auto layout = std::make_shared<plan::PackLayout const>(std::move(read.layout));
    plan::Engines engines{
        std::make_shared<ChainEngine>(attention_chain(std::move(read), facts, sizes), device, layout, code_of(stored))};
    return loaded_of(std::move(layout), std::move(engines), std::move(advantage));
}

// A stored plan is of a graph that was accepted before.
AttentionOffer offer_of(plan::PlanningInput const& input, plan::Stored const* stored) {
    if (input.settings.batch_invariant) return AttentionOffer::InAnyBatch;
    bool const is_alone = stored != nullptr || input.target.kind() == Target::Kind::STREAM;
    return is_alone ? AttentionOffer::Alone : AttentionOffer::NextToOthers;
}

Result<plan::Loaded> propose_attention(plan::PlanningInput const& input, QueueDevice const& device,
                                       AttentionOffer offer, plan::Stored const* stored) {
    if (stored != nullptr && stored->engine != kAttentionEngine) return no_such_engine(*stored);
    auto const facts = planned_device(input, device);
    if (facts.is_bad()) return facts.error();
    auto read = read_attention(input.graph, facts.value(), offer);
    if (read.is_bad()) return read.error();
    return attention_of(std::move(read).value(), device, facts.value(), OtherSizes::None, stored);
}

// Proposes all engines for the graph, or the one of a stored plan.
Result<plan::Loaded> propose_engines(plan::PlanningInput const& input, Devices const& devices,
                                     plan::Stored const* stored) {
    auto const device = devices.find(input.target, input.settings);
    if (device.is_bad()) return device.error();
    return is_neighborhood(input.graph) ? propose_neighborhoods(input, device.value(), stored)
                                        : propose_attention(input, device.value(), offer_of(input, stored), stored);
}

}  // namespace

bool KernelsBackend::serves(Target const& target) const {
    bool const has_handle = target.kind() == Target::Kind::CUDA || target.kind() == Target::Kind::OFFLINE;
    return target.kind() == Target::Kind::STREAM || (has_handle && devices_.has_handles);
}

bool KernelsBackend::takes(nodes::ValidatedGraph const& graph) const {
    return is_neighborhood(graph) || is_one_attention(graph) || has_bias_or_modifier(graph);
}

Result<std::shared_ptr<plan::Proposal const>> KernelsBackend::propose(plan::PlanningInput const& input) const {
    auto proposed = propose_engines(input, devices_, nullptr);
    if (proposed.is_bad()) return proposed.error();
    return std::move(proposed).value().proposal;
}

bool KernelsBackend::may_have_engine(std::string_view name) const {
    return name == kAttentionEngine ||
           std::ranges::any_of(kNeighborhoodForms, [&](NeighborhoodForm form) { return name == engine_name(form); });
}

Result<std::shared_ptr<plan::Proposal const>> KernelsBackend::propose_for_all_shapes(
    plan::PlanningInput const& input) const {
    if (!is_attention(input.graph)) return Backend::propose_for_all_shapes(input);
    SDPA_GRAPH_TRY(check_compiler());
    auto const device = devices_.find(input.target, input.settings);
    if (device.is_bad()) return device.error();
    auto const facts = planned_device(input, device.value());
    if (facts.is_bad()) return facts.error();
    bool const is_alone = input.target.kind() == Target::Kind::STREAM;
    auto read =
        read_attention(input.graph, facts.value(), is_alone ? AttentionOffer::Alone : AttentionOffer::BeforeOthers);
    if (read.is_bad()) return read.error();
    if (!is_alone && !fills(read.value().problem, facts.value())) return too_few_tiles();
    OtherSizes const sizes = is_alone ? OtherSizes::All : OtherSizes::ThatFill;
    return attention_of(std::move(read).value(), device.value(), facts.value(), sizes, nullptr).proposal;
}

Result<std::shared_ptr<plan::Proposal const>> KernelsBackend::propose_batch_invariant(
    plan::PlanningInput const& input) const {
    if (!is_attention(input.graph)) return Backend::propose_batch_invariant(input);
    auto const device = devices_.find(input.target, input.settings);
    if (device.is_bad()) return device.error();
    auto proposed = propose_attention(input, device.value(), offer_of(input, nullptr), nullptr);
    if (proposed.is_bad()) return proposed.error();
    return std::move(proposed).value().proposal;
}

// A refusal by the attention engine, without a rule's id.
Report KernelsBackend::limits(plan::PlanningInput const& input) const {
    auto const device = devices_.find(input.target, input.settings);
    if (!is_one_attention(input.graph) || device.is_bad()) return {};
    auto const read = read_attention(input.graph, device.value().facts, AttentionOffer::NextToOthers);
    if (read.is_good()) return {};
    return Report(
        {{read.error().code, {}, read.error().err_msg, "a graph that it runs", "leave the engine to be chosen"}});
}

Result<plan::Loaded> KernelsBackend::load(plan::PlanningInput const& input, plan::Stored const& stored) const {
    return propose_engines(input, devices_, &stored);
}

std::optional<std::string> KernelsBackend::circumstances(Target const& target, plan::Settings const& settings) const {
    auto identity = devices_.identity(target, settings);
    if (identity.is_bad()) return std::nullopt;
    if (settings.sm_count == 0 && settings.sm_version == 0) return std::move(identity).value();
    return std::move(identity).value() + ", multiprocessors " + std::to_string(settings.sm_count) + ", version " +
           std::to_string(settings.sm_version);
}

std::optional<std::string> KernelsBackend::environment(Target const& target, plan::Settings const& settings) const {
    auto const device = devices_.find(target, settings);
    auto const driver = cuda::driver_major();
    if (device.is_bad() || driver.is_bad()) return std::nullopt;
    return core::text(plan::versioned_library(), ", driver for CUDA ", driver.value(), ", ", device.value().name, ", ",
                      device.value().facts.multiprocessors, " multiprocessors");
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
