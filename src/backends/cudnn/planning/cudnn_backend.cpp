#include "cudnn/planning/cudnn_backend.h"

#include "core/process/process_settings.h"
#include "cudnn/planning/cudnn_costs.h"
#include "cudnn/planning/lowering.h"
#include "cudnn/planning/plan_text.h"
#include "cudnn/planning/proposal.h"

namespace cudnn_frontend::cudnn {

bool CudnnBackend::serves(Target const& target) const {
    return target.kind() == Target::Kind::CUDA || target.kind() == Target::Kind::OFFLINE;
}

Result<std::shared_ptr<plan::Proposal const>> CudnnBackend::propose(plan::PlanningInput const& input) const {
    auto work = lower_for_cudnn(input, check_indices_, omitted_quirk_);
    if (work.is_bad()) return work.error();
    return std::shared_ptr<plan::Proposal const>(std::make_shared<CudnnProposal>(std::move(work).value()));
}

Report CudnnBackend::limits(plan::PlanningInput const& input) const {
    auto const device = find_planning_device(input.target, input.settings.device.get());
    return device.is_bad() ? Report() : limits_of(input.graph, device.value(), input.settings.dynamic_shapes);
}

// Plans in a kernel cache of the user's live as long as that one.
std::optional<std::string> CudnnBackend::circumstances(Target const& target, plan::Settings const& settings) const {
    if (settings.kernel_cache) return std::nullopt;
    auto device = identity_of_device(target, settings.device.get());
    if (device.is_bad()) return std::nullopt;
    std::int32_t const numbers[] = {settings.sm_count, settings.sm_version, settings.dynamic_shapes,
                                    core::process::ignores_limits.get(), core::process::checks_indices.get()};
    std::string all = std::move(device).value();
    all.append(reinterpret_cast<char const*>(numbers), sizeof numbers);  // as long as the process: no text for people
    return all;
}

std::optional<std::string> CudnnBackend::environment(Target const& target, plan::Settings const& settings) const {
    auto const device = find_planning_device(target, settings.device.get());
    auto const environments = device.is_good() ? environments_of(device.value()) : std::vector<std::string>();
    return environments.empty() ? std::nullopt : std::optional(environments.front());
}

std::unique_ptr<rewrite::Costs const> CudnnBackend::costs(Target const& target, plan::Settings const& settings) const {
    auto const found = find_planning_device(target, settings.device.get());
    if (found.is_bad()) return nullptr;
    auto const facts = facts_of(*found.value().device);
    if (facts.is_bad()) return nullptr;
    auto const rates = read_rates(facts.value().rates);
    if (!rates) return nullptr;
    return std::make_unique<CudnnCosts>(*rates, plan::multiprocessors_of(facts.value().multiprocessors, settings));
}

Result<plan::Loaded> CudnnBackend::load(plan::PlanningInput const& input, plan::Stored const& stored) const {
    return load_stored_plan(input, stored.bytes, check_indices_);
}

}  // namespace cudnn_frontend::cudnn
