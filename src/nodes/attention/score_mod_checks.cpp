#include "nodes/attention/attention_checks.h"

#include "core/data_type.h"
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_node.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <array>
#include <set>

namespace cudnn_frontend::nodes::score_mod_checks {
namespace {

using namespace attention;

struct Modifier {
    int given, returned;
    char const* setter;
};
constexpr Modifier kModifiers[] = {{Score, ScoreMod, "set_score_mod"}, {DScore, DScoreMod, "set_score_mod_bprop"}};

// Calls visit(modifier, what it returned) for each that returned a tensor.
template <class Visit>
void for_each_modified(RuleScope const& scope, Visit const& visit) {
    for (Modifier const& modifier : kModifiers) {
        if (scope.tensor(modifier.returned) != nullptr) visit(modifier, *scope.tensor(modifier.returned));
    }
}

TensorId id_at(RuleScope const& scope, int port) { return scope.node().ports[static_cast<std::size_t>(port)]; }

// Whether nodes make the one of the other, or both are the same.
bool is_made_of(RuleScope const& scope, TensorId made, TensorId of) {
    std::set<TensorId> seen{made};
    std::vector<TensorId> open{made};
    while (!open.empty()) {
        TensorId const id = open.back();
        open.pop_back();
        if (id == of) return true;
        for (PortUse const& writer : scope.uses()[static_cast<std::size_t>(id)].writers) {
            if (writer.node == &scope.node()) continue;
            for_each_port(*writer.node, Direction::Input, [&](PortRow const&, TensorId input) {
                if (seen.insert(input).second) open.push_back(input);
            });
        }
    }
    return false;
}

// The effect of an operation on scores on a gradient: it leaves it as it is, ends it, or needs the derivative.
enum class Slope { One, None, Other };

// Whether what BINARY_SELECT puts in place of scores hides them, so that their gradient is 0 without being changed.
// Numbers that the graph does not know are taken for such.
bool hides(TensorSpec const& fill) {
    constexpr double kMostHidden = -1e4;
    return !fill.value || core::to_double(*fill.value) <= kMostHidden;
}

Slope slope_of(PointwiseFields const& fields, bool is_first_alone) {
    using enum PointwiseMode_t;
    switch (fields.mode) {
        case GEN_INDEX:
        case CMP_EQ:
        case CMP_NEQ:
        case CMP_GT:
        case CMP_GE:
        case CMP_LT:
        case CMP_LE: return Slope::None;
        case IDENTITY:
        case ADD:
        case SUB:
        case BINARY_SELECT: return is_first_alone ? Slope::One : Slope::Other;
        default: return Slope::Other;
    }
}

// Whether only the operand at one place, which for ADD and BINARY_SELECT may be either, comes from the scores.
bool is_first_alone(Node const& node, std::set<TensorId> const& of_scores) {
    auto const has = [&](int port) { return of_scores.contains(node.ports[static_cast<std::size_t>(port)]); };
    bool const is_sub = std::get<PointwiseFields>(node.fields).mode == PointwiseMode_t::SUB;
    return is_sub ? has(pointwise::In0) && !has(pointwise::In1) : has(pointwise::In0) != has(pointwise::In1);
}

// Whether BINARY_SELECT chooses between scores and anything that does not hide them.
bool replaces_scores(GraphSpec const& graph, Node const& node, std::set<TensorId> const& of_scores) {
    if (std::get<PointwiseFields>(node.fields).mode != PointwiseMode_t::BINARY_SELECT) return false;
    bool const is_first = of_scores.contains(node.ports[pointwise::In0]);
    TensorSpec const* const other = graph.tensor(node, is_first ? pointwise::In1 : pointwise::In0);
    return other != nullptr && !hides(*other);
}

// A predicate that is made of scores, in the third place of BINARY_SELECT, has no slope.
bool reads_any(Node const& node, std::set<TensorId> const& tensors) {
    bool reads = false;
    for_each_port(node, Direction::Input, [&](PortRow const& row, TensorId id) {
        bool const is_predicate = node.kind() == NodeKind::Pointwise && row.port == pointwise::In2;
        if (!is_predicate && tensors.contains(id)) reads = true;
    });
    return reads;
}

std::string operation_of(Node const& node) {
    auto const* const fields = std::get_if<PointwiseFields>(&node.fields);
    return fields == nullptr ? schema_of(node.kind()).tag : core::name_of(fields->mode);
}

// The first node between the scores and the results made from them whose derivative is not 1. Nodes may be in any
// order.
Node const* first_curved_node(GraphSpec const& graph, TensorId scores) {
    std::set<TensorId> of_scores{scores};
    for (std::size_t known = 0; known != of_scores.size();) {
        known = of_scores.size();
        for (Node const& node : every_node(graph)) {
            if (attention_fields(node) != nullptr || !reads_any(node, of_scores)) continue;
            auto const* const fields = std::get_if<PointwiseFields>(&node.fields);
            if (fields == nullptr) return &node;  // a node that moves scores moves their gradient too
            Slope const slope = slope_of(*fields, is_first_alone(node, of_scores));
            if (slope == Slope::Other || replaces_scores(graph, node, of_scores)) return &node;
            if (slope == Slope::One) of_scores.insert(node.ports[pointwise::Out0]);
        }
    }
    return nullptr;
}

}  // namespace

void modifier_returns_a_tensor(RuleScope const& scope) {
    for (Modifier const& modifier : kModifiers) {
        bool is_told = false;
        for (ModifierFault const& fault : scope.node().modifier_faults) {
            if (fault.port != modifier.returned) continue;
            is_told = true;
            scope.report_port(modifier.returned, text(fault.found, ", for ", modifier.setter, "()"), fault.needed,
                              "correct the callable; score_modifiers.h lists the arguments of ready modifiers");
        }
        if (is_told || scope.tensor(modifier.given) == nullptr || scope.tensor(modifier.returned) != nullptr) continue;
        scope.report_port(modifier.returned, text("no tensor from the callable of ", modifier.setter, "()"),
                          "what pointwise operations made of the tensor that it got",
                          "return the result of the last pointwise() call");
    }
}

void modified_has_dims(RuleScope const& scope) {
    core::Dims const wanted = attention_checks::score_dims(scope);
    if (wanted.empty()) return;
    for (Modifier const& modifier : kModifiers)
        attention_checks::expect_dims(scope, modifier.given, wanted, "those of the scores");
    for_each_modified(scope, [&](Modifier const& modifier, TensorSpec const& tensor) {
        if (tensor.dim.empty() || tensor.dim == wanted) return;
        scope.report_port(modifier.returned, text("a result of ", modifier.setter, "() with dims ", tensor.dim),
                          text("dims ", wanted, ", those of the scores"),
                          "return what is computed for each score, not reduced or wider");
    });
}

void modified_is_made_of_scores(RuleScope const& scope) {
    for_each_modified(scope, [&](Modifier const& modifier, TensorSpec const&) {
        TensorId const given = id_at(scope, modifier.given);
        if (given != kNoTensor && is_made_of(scope, id_at(scope, modifier.returned), given)) return;
        scope.report_port(modifier.returned,
                          text("a result of ", modifier.setter, "() that is not made of the tensor it got"),
                          "a chain of pointwise operations from that tensor to the result",
                          "use the callable's second argument as an operand");
    });
}

void modified_is_float(RuleScope const& scope) {
    for (Modifier const& modifier : kModifiers) {
        TensorSpec const* const given = scope.tensor(modifier.given);
        if (given == nullptr || given->data_type == DataType_t::FLOAT) continue;
        scope.report_port(modifier.given, text("scores of type ", given->data_type, " for ", modifier.setter, "()"),
                          "FLOAT, in which scores are computed", "leave their type as it is");
    }
    for_each_modified(scope, [&](Modifier const& modifier, TensorSpec const& tensor) {
        if (!has_type(tensor) || tensor.data_type == DataType_t::FLOAT) return;
        scope.report_port(modifier.returned, text("a result of ", modifier.setter, "() of type ", tensor.data_type),
                          "FLOAT, in which scores are computed",
                          "call set_data_type(DataType_t::FLOAT) on it, or set_intermediate_data_type() on the graph");
    });
}

void gradient_has_modifier(RuleScope const& scope) {
    if (scope.tensor(DScore) == nullptr || scope.tensor(Score) != nullptr) return;
    scope.report_port(DScore, "set_score_mod_bprop() without set_score_mod()",
                      "the modifier too, which backward applies again", "call set_score_mod() with forward's modifier");
}

void curved_modifier_has_gradient(RuleScope const& scope) {
    if (scope.tensor(Score) == nullptr || scope.tensor(ScoreMod) == nullptr || scope.tensor(DScore) != nullptr) return;
    Node const* const curved = first_curved_node(scope.graph(), id_at(scope, Score));
    if (curved == nullptr) return;
    scope.report_port(ScoreMod,
                      text("a modifier with the operation ", operation_of(*curved), " in '", label(*curved),
                           "', and no gradient for it"),
                      "set_score_mod_bprop() where a modifier does more than add to scores or select -infinity, or a "
                      "number of -10000 or less, in their place",
                      "call set_score_mod_bprop() with what multiplies the gradient by the modifier's derivative");
}

void modifier_is_not_fused(RuleScope const& scope) {
    if (scope.tensor(Score) == nullptr || !asks_for_unified(scope.node())) return;
    scope.report_port(Score, "a score modifier under the implementation UNIFIED",
                      "the implementation AUTO or COMPOSITE, where operations of yours have a place",
                      "call set_implementation(AttentionImplementation_t::AUTO)");
}

}  // namespace cudnn_frontend::nodes::score_mod_checks
