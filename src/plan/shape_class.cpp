#include "plan/shape_class.h"

#include "core/process/process_settings.h"
#include "expand/expand.h"
#include "plan/known_plans.h"
#include "plan/programs/program_proposal.h"
#include "rewrite/rewrites/classes.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

// Whether an engine takes the only attention of the program, and how the host may read its memory.
Result<HostMemory> check_attention(rewrite::Program const& program, PlanningInput const& input,
                                   Backends const& backends) {
    auto const step = std::ranges::find_if(
        program.steps, [](rewrite::Step const& each) { return std::holds_alternative<rewrite::Attend>(each); });
    auto const& graph = std::get<rewrite::Attend>(*step).graph;
    auto const planner = KnownPlans::of_process().plan_part(graph, input.target, settings_of_parts(input.settings),
                                                            backends, {HeurMode_t::A, HeurMode_t::FALLBACK});
    if (planner.is_bad()) return planner.error();
    SDPA_GRAPH_TRY(planner.value()->check_support({}));
    return planner.value()->layout().host_memory;
}

Result<rewrite::Program> class_of(nodes::ValidatedGraph const& graph) {
    if (auto const attention = rewrite::Attention::of(graph)) return rewrite::classes(*attention);
    return rewrite::no_attention(rewrite::kNameOfClasses);
}

}  // namespace

bool wants_class(Target const& target, Settings const& settings) {
    auto const said = settings.shape_policy ? settings.shape_policy : core::process::shape_policy.get();
    auto const policy = said.value_or(ShapePolicy_t::EXACT);
    bool const is_on_gpu = target.kind() == Target::Kind::CUDA;
    return policy == ShapePolicy_t::CLASSES || (policy == ShapePolicy_t::AUTO && is_on_gpu);
}

Result<Planner::Proposed> propose_class(PlanningInput const& input, Backends const& backends) {
    auto program = class_of(input.graph);
    if (program.is_bad()) return program.error();
    SDPA_GRAPH_TRY(obstacle_to_joints(input.target, backends));
    auto const host_memory = check_attention(program.value(), input, backends);
    if (host_memory.is_bad()) return host_memory.error();
    auto const op_graph = expand::expand(input.graph, {});
    if (op_graph.is_bad()) return op_graph.error();
    PackLayout layout = make_pack_layout(input.graph.spec(), op_graph.value());
    layout.host_memory = host_memory.value();
    return propose_alone(std::move(program).value(), std::move(layout), input, backends);
}

}  // namespace cudnn_frontend::plan
