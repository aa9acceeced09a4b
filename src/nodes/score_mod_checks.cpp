#include "nodes/score_mod_checks.h"

#include "nodes/attention_check_tools.h"
#include "nodes/paging.h"

#include <set>

namespace cudnn_frontend::inline v1::nodes::score_mod_checks {
namespace {

using namespace attention;

struct Modifier {
    int given, returned;
    char const* setter;
};
constexpr Modifier kModifiers[] = {{Score, Score_mod, "set_score_mod"}, {dScore, dScore_mod, "set_score_mod_bprop"}};

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
            for (PortRow const& row : schema_of(writer.node->kind()).ports) {
                TensorId const input = writer.node->ports[static_cast<std::size_t>(row.port)];
                bool const is_input = row.direction == Direction::Input && input != kNoTensor;
                if (is_input && seen.insert(input).second) open.push_back(input);
            }
        }
    }
    return false;
}

}  // namespace

void modifier_returns_a_tensor(RuleScope const& scope) {
    for (Modifier const& modifier : kModifiers) {
        if (scope.tensor(modifier.given) == nullptr || scope.tensor(modifier.returned) != nullptr) continue;
        scope.report_port(modifier.returned, text("no tensor from the callable of ", modifier.setter, "()"),
                          "what pointwise operations made of the tensor that it got",
                          "return the result of the last pointwise() call");
    }
}

void modified_has_dims(RuleScope const& scope) {
    core::Dims const wanted = score_dims(scope.graph(), scope.node());
    if (wanted.empty()) return;
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
    for_each_modified(scope, [&](Modifier const& modifier, TensorSpec const& tensor) {
        if (!has_type(tensor) || tensor.data_type == DataType_t::FLOAT) return;
        scope.report_port(modifier.returned, text("a result of ", modifier.setter, "() of type ", tensor.data_type),
                          "FLOAT, in which scores are computed",
                          "call set_data_type(DataType_t::FLOAT) on it, or set_intermediate_data_type() on the graph");
    });
}

void gradient_has_modifier(RuleScope const& scope) {
    if (scope.tensor(dScore) == nullptr || scope.tensor(Score) != nullptr) return;
    scope.report_port(dScore, "set_score_mod_bprop() without set_score_mod()",
                      "the modifier too, which backward applies again", "call set_score_mod() with forward's modifier");
}

void modifier_is_not_fused(RuleScope const& scope) {
    if (scope.tensor(Score) == nullptr) return;
    auto const& fields = std::get<SdpaForwardFields>(scope.node().fields);
    if (fields.implementation != AttentionImplementation_t::UNIFIED) return;
    scope.report_port(Score, "a score modifier under the implementation UNIFIED",
                      "the implementation AUTO or COMPOSITE, where operations of yours have a place",
                      "call set_implementation(AttentionImplementation_t::AUTO)");
}

}  // namespace cudnn_frontend::inline v1::nodes::score_mod_checks
