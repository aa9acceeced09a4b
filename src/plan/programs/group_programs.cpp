#include "group/group_rules.h"
#include "plan/programs/program_proposal.h"
#include "plan/shape_class.h"
#include "rewrite/group/ways.h"
#include "rewrite/offers.h"

#include <string>

namespace cudnn_frontend::plan {
namespace {

namespace rules = group::rules;

char const* name_of(group::Medium medium) {
    switch (medium) {
        case group::Medium::Host: return "threads of this process, in the host's memory";
        case group::Medium::Gpu: return "GPUs, by NCCL";
        case group::Medium::None: break;
    }
    return "ranks that are only described";
}

bool fits(Target::Kind target, group::Medium medium) {
    if (medium == group::Medium::None) return true;
    return runs_on_host(target) ? medium == group::Medium::Host
                                : target == Target::Kind::CUDA && medium == group::Medium::Gpu;
}

error_t check_target(PlanningInput const& input) {
    auto const& transport = input.settings.group->transport;
    if (transport == nullptr || fits(input.target.kind(), transport->medium())) return {};
    return rules::violation(
        rules::kTarget,
        std::string("the target ") + to_string(input.target.kind()) + " and a group of " + name_of(transport->medium()),
        "Target::cpu() or reference() for threads, Target::cuda(handle) for GPUs",
        "build for another target, or make another group");
}

error_t check_settings(Settings const& settings) {
    bool const is_of_class = settings.shape_policy == ShapePolicy_t::CLASSES;
    bool const is_for_all_shapes = settings.shape_policy == ShapePolicy_t::ALL_SHAPES;
    char const* const setter = settings.rewrites.listed        ? "set_rewrites() with a list"
                               : settings.override_shapes      ? "set_override_shape_enabled(true)"
                               : settings.slices_for_workspace ? "set_workspace_limit()"
                               : settings.batch_invariant      ? "set_batch_invariant(true)"
                               : is_of_class                   ? "set_shape_policy(ShapePolicy_t::CLASSES)"
                               : is_for_all_shapes             ? "set_shape_policy(ShapePolicy_t::ALL_SHAPES)"
                                                               : nullptr;
    if (setter == nullptr) return {};
    return rules::violation(rules::kSettings, setter, "none of them with set_group()", "leave it out");
}

// All that is wrong with the graph, the target and the settings.
error_t check(PlanningInput const& input) {
    error_t all;
    for (error_t const& error : {rewrite::check_in_group(input.graph, *input.settings.group), check_target(input),
                                 check_settings(input.settings)}) {
        if (all.is_good()) all = error;
        else if (error.is_bad()) all.err_msg += "\n" + error.err_msg;
    }
    return all;
}

Result<rewrite::Program> program_of_rank(PlanningInput const& input) {
    SDPA_GRAPH_TRY(check(input));
    return rewrite::program_in_group(input.graph, *input.settings.group);
}

}  // namespace

Result<rewrite::Program> stored_program(PlanningInput const& input, std::string const& name) {
    auto const& group = input.settings.group;
    if (group == nullptr && !name.starts_with(GroupRun::kStoredPrefix)) {
        return rewrite::program_named(input.graph, name);
    }
    if (group == nullptr) {
        return rules::violation(rules::kStored, "a stored plan of " + name, "a plan of a whole attention",
                                "call set_group() with that rank and these layouts before deserialize()");
    }
    auto program = program_of_rank(input);
    if (program.is_bad()) return program;
    std::string const own = GroupRun{group->transport, program.value().agreement}.stored_name();
    if (name == own) return program;
    return rules::violation(rules::kStored, "a stored plan of " + name, own,
                            "load the plan of this rank, or pass the layouts, the way and the stages of the plan");
}

Result<Planner::Proposed> propose_in_group(PlanningInput const& input, Backends const& backends) {
    auto program = program_of_rank(input);
    if (program.is_bad()) return program.error();
    if (rewrite::has_joints(program.value())) SDPA_GRAPH_TRY(obstacle_to_joints(input.target, backends));
    auto layout = layout_of_class(input);
    if (layout.is_bad()) return layout.error();
    return propose_alone(std::move(program).value(), std::move(layout).value(), input, backends);
}

}  // namespace cudnn_frontend::plan
