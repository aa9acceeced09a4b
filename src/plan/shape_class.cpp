#include "plan/shape_class.h"

#include "attention/attention_operands.h"
#include "core/process/process_settings.h"
#include "expand/expand.h"
#include "plan/known_plans.h"
#include "plan/programs/program_proposal.h"
#include "rewrite/rewrites/rewrites.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

// Whether an engine takes the only attention of the program. Filters are applied later, as to all candidates.
error_t check_attention(rewrite::Program const& program, PlanningInput const& input, Backends const& backends) {
    auto const& graph = rewrite::first_attend(program).graph;
    auto const planner = plan_part(graph, input.target, settings_of_parts(input.settings), backends, default_modes());
    if (planner.is_bad()) return planner.error();
    return planner.value()->check_support({});
}

Result<rewrite::Program> class_of(nodes::ValidatedGraph const& graph) {
    if (auto const attention = rewrite::Attention::of(graph)) return rewrite::classes(*attention);
    return rewrite::no_attention(rewrite::kNameOfClasses);
}

}  // namespace

ShapePolicy_t shape_policy_of(Target const& target, Settings const& settings) {
    auto const said = settings.shape_policy ? settings.shape_policy : core::process::shape_policy.get();
    auto const policy = said.value_or(ShapePolicy_t::EXACT);
    bool const is_on_gpu = target.kind() == Target::Kind::CUDA;
    if (policy == ShapePolicy_t::AUTO) return is_on_gpu ? ShapePolicy_t::CLASSES : ShapePolicy_t::EXACT;
    return policy == ShapePolicy_t::ALL_SHAPES && runs_on_host(target.kind()) ? ShapePolicy_t::EXACT : policy;
}

// Plans for described GPUs are made ahead and stored: those of classes are few.
bool may_be_for_all_shapes(Target const& target, Settings const& settings) {
    auto const policy = shape_policy_of(target, settings);
    bool const is_offline = target.kind() == Target::Kind::OFFLINE;
    return target.kind() == Target::Kind::STREAM || policy == ShapePolicy_t::ALL_SHAPES ||
           (policy == ShapePolicy_t::CLASSES && !is_offline);
}

// A tensor that no operation reads needs no pointer in packs.
static bool reads_all_tensors(rewrite::Attention const& attention) {
    using namespace rewrite::attention;
    bool const ignores_sink = attention.is_backward() && attention.has(SinkToken) && !attention.has(DSinkToken);
    return !ignores_sink && !attention.has(AttnScale);
}

static Result<PackLayout> layout_as_given(nodes::ValidatedGraph const& graph) {
    auto const attention = rewrite::Attention::of(graph);
    if (attention && reads_all_tensors(*attention)) return make_pack_layout(graph.spec());
    auto const op_graph = expand::expand(graph, {});
    if (op_graph.is_bad()) return op_graph.error();
    return make_pack_layout(graph.spec(), op_graph.value());
}

// The layout of the graph as it is, with the alignment that a GPU's engines need.
Result<PackLayout> layout_of_class(PlanningInput const& input) {
    PackLayout layout;
    SDPA_GRAPH_TRY(layout_as_given(input.graph).move_to(layout));
    if (runs_on_host(input.target.kind())) return layout;
    layout.host_memory = HostMemory::ScalarsByValue;
    for (Slot& slot : layout.slots) {
        bool const is_matrix = slot.dim.size() == 4 && slot.element_size == 2;
        if (is_matrix) slot.alignment = std::max(slot.alignment, attention::kMatrixAlignment);
    }
    return layout;
}

Result<Planner::Proposed> propose_class(PlanningInput const& input, Backends const& backends) {
    auto program = class_of(input.graph);
    if (program.is_bad()) return program.error();
    SDPA_GRAPH_TRY(obstacle_to_joints(input.target, backends));
    SDPA_GRAPH_TRY(check_attention(program.value(), input, backends));
    auto layout = layout_of_class(input);
    if (layout.is_bad()) return layout.error();
    return propose_alone(std::move(program).value(), std::move(layout).value(), input, backends);
}

}  // namespace cudnn_frontend::plan
