#include "plan/programs/program_proposal.h"

#include "nodes/validation/checked_graphs.h"

namespace cudnn_frontend::plan {

Result<Engines> ProgramProposal::engines(std::vector<HeurMode_t> const& modes) const {
    Engines engines, smaller;
    error_t refusals;
    for (rewrite::Program const& program : programs_) {
        auto engine = ProgramEngine::propose(program, input_->input(), layout(), backends_, modes);
        if (engine.is_good()) {
            if (auto least = with_least_workspace(*engine.value())) smaller.push_back(std::move(least));
            engines.push_back(std::move(engine).value());
        } else if (refusals.is_good()) {
            refusals = engine.error();
        }
    }
    if (engines.empty() && refusals.is_bad()) return refusals;
    engines.insert(engines.end(), smaller.begin(), smaller.end());
    return engines;
}

std::size_t ProgramProposal::bytes() const {
    constexpr std::size_t kOfStep = sizeof(rewrite::Step) + 512;  // with the lists of its views and bindings
    std::size_t bytes = Proposal::bytes() + sizeof(KeptInput) + nodes::heap_bytes(input_->graph.spec());
    for (rewrite::Program const& program : programs_) bytes += sizeof program + program.steps.size() * kOfStep;
    return bytes;
}

std::shared_ptr<Engine> ProgramProposal::with_least_workspace(ProgramEngine const& engine) const {
    return input_->settings.slices_for_workspace ? engine.with_least_workspace() : nullptr;
}

Planner::Proposed propose_alone(rewrite::Program program, PackLayout layout, PlanningInput const& input,
                                Backends const& backends) {
    std::vector<rewrite::Program> programs;
    programs.push_back(std::move(program));
    return {"programs", std::make_shared<ProgramProposal const>(std::make_shared<PackLayout const>(std::move(layout)),
                                                                std::make_shared<KeptInput const>(input), backends,
                                                                std::move(programs))};
}

error_t obstacle_to_joints(Target const& target, Backends const& backends) {
    error_t obstacle(error_code_t::GRAPH_NOT_SUPPORTED, "no backend joins partial results");
    for (Backend const* const backend : backends) {
        if (!backend->joins(target)) continue;
        obstacle = backend->check_joints();
        if (obstacle.is_good()) break;
    }
    return obstacle;
}

}  // namespace cudnn_frontend::plan
