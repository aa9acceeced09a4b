// The reduction node: folds each dim in which its result is smaller than its operand.
#include "nodes/schema/rule.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>

namespace cudnn_frontend::nodes {
namespace {

using namespace reduction;
using enum error_code_t;

constexpr std::array kPortRows = {
    PortRow{reduction::X, "X", Direction::Input, Presence::Required, "operand"},
    PortRow{reduction::Y, "Y", Direction::Output, Presence::Required, "result; its dims say what is reduced"},
};

constexpr std::array kFieldRows = {
    field<ReductionFields, &ReductionFields::mode>("mode", "the operation"),
    field<ReductionFields, &ReductionFields::is_deterministic>("is_deterministic", "the same bits in every run"),
};

// Infers only strides: the dims are the user's choice.
void infer(GraphSpec& graph, Node const& node) {
    TensorSpec* const y = graph.tensor(node, reduction::Y);
    if (y != nullptr && !y->dim.empty()) infer_output(y, y->dim);
}

void has_mode(RuleScope const& scope) {
    if (std::get<ReductionFields>(scope.node().fields).mode != ReductionMode_t::NOT_SET) return;
    scope.report_node("no reduction mode", "the operation to reduce with",
                      "call set_mode(), such as ReductionMode_t::ADD");
}

void result_has_dims(RuleScope const& scope) {
    TensorSpec const* const y = scope.tensor(Y);
    if (y == nullptr || !y->dim.empty()) return;
    scope.report_port(Y, "no dims on the result Y", "dims that say what is reduced",
                      "call set_dim() on the result with 1 in each dim to reduce and the operand's size in the others");
}

void ranks_agree(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    TensorSpec const* const y = scope.tensor(Y);
    if (x == nullptr || y == nullptr || x->dim.empty() || y->dim.empty() || x->dim.size() == y->dim.size()) return;
    scope.report_port(Y, text("Y with ", y->dim.size(), " dims ", y->dim),
                      text(x->dim.size(), " dims, as X has with ", x->dim), "keep reduced dims, with size 1");
}

void sizes_divide(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    TensorSpec const* const y = scope.tensor(Y);
    if (x == nullptr || y == nullptr || x->dim.size() != y->dim.size()) return;
    for (std::size_t i = 0; i < x->dim.size(); ++i) {
        if (x->dim[i] <= 0 || y->dim[i] <= 0 || x->dim[i] % y->dim[i] == 0) continue;
        scope.report_port(Y, text("size ", y->dim[i], " in dim ", i, " of Y with dims ", y->dim),
                          text("a size that divides X's ", x->dim[i]),
                          text("use 1 to reduce the dim, or ", x->dim[i], " to keep it"));
    }
}

constexpr Rule kRules[] = {
    {"reduction.c01", "The mode is set.", ATTRIBUTE_NOT_SET, has_mode},
    {"reduction.c02", "The result has dims.", ATTRIBUTE_NOT_SET, result_has_dims},
    {"reduction.c03", "The result has as many dims as the operand.", INVALID_VALUE, ranks_agree},
    {"reduction.c04", "Each size of the result divides that of the operand.", INVALID_VALUE, sizes_divide},
};

std::span<Rule const> rules() { return kRules; }

}  // namespace

constinit NodeSchema const ReductionFields::schema = {
    NodeKind::Reduction, "REDUCTION", reduction::PortCount, kPortRows, kFieldRows, infer, rules};

}  // namespace cudnn_frontend::nodes
