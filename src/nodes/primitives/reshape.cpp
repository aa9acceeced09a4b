// The reshape node: the elements of X under other dims.
#include "nodes/primitives/moves.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

namespace cudnn_frontend::nodes {
namespace {

using namespace reshape;
using enum error_code_t;

constexpr std::array kPortRows = {
    PortRow{reshape::X, "X", Direction::Input, Presence::Required, "operand"},
    PortRow{reshape::Y, "Y", Direction::Output, Presence::Required, "the same elements under other dims"},
};

constexpr std::array kFieldRows = {
    field<ReshapeFields, &ReshapeFields::mode>(
        "mode", "VIEW_ONLY: the elements keep their order in memory; LOGICAL: that of their indices"),
    field<ReshapeFields, &ReshapeFields::dim>("dim", "the result's dims; empty: those of the tensor"),
    field<ReshapeFields, &ReshapeFields::stride>("stride", "the result's strides; empty: those of the tensor"),
};

ReshapeFields const& fields_of(Node const& node) { return std::get<ReshapeFields>(node.fields); }

void infer(GraphSpec& graph, Node const& node) {
    moves::infer_type(graph, node, X, Y);
    TensorSpec* const y = graph.tensor(node, Y);
    if (y == nullptr) return;
    if (y->dim.empty()) y->dim = fields_of(node).dim;
    if (y->stride.empty()) y->stride = fields_of(node).stride;
    if (!y->dim.empty()) infer_output(y, y->dim);
}

void has_mode(RuleScope const& scope) {
    if (fields_of(scope.node()).mode != ReshapeMode_t::NOT_SET) return;
    scope.report_node("the mode NOT_SET", "VIEW_ONLY or LOGICAL",
                      "leave set_reshape_mode() out for VIEW_ONLY, or pass ReshapeMode_t::LOGICAL");
}

void result_has_dims(RuleScope const& scope) {
    TensorSpec const* const y = scope.tensor(Y);
    if (y == nullptr || !y->dim.empty()) return;
    scope.report_port(Y, "no dims on the result Y", "dims of as many elements as X has",
                      "call set_dim() on the attributes or on the result");
}

void expect_same(RuleScope const& scope, char const* what, core::Dims const& of_tensor, core::Dims const& of_node) {
    if (of_node.empty() || of_tensor.empty() || of_tensor == of_node) return;
    scope.report_port(Y, text("Y with ", what, " ", of_tensor), text(what, " ", of_node, ", as set on the attributes"),
                      text("set its ", what, " in one of the two places"));
}

void result_is_as_the_node_says(RuleScope const& scope) {
    TensorSpec const* const y = scope.tensor(Y);
    if (y == nullptr) return;
    expect_same(scope, "dims", y->dim, fields_of(scope.node()).dim);
    expect_same(scope, "strides", y->stride, fields_of(scope.node()).stride);
}

void volumes_agree(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    TensorSpec const* const y = scope.tensor(Y);
    if (x == nullptr || y == nullptr || x->dim.empty() || y->dim.empty()) return;
    bool const is_regular = has_regular_layout(*x) && has_regular_layout(*y);
    if (!is_regular || core::volume(x->dim) == core::volume(y->dim)) return;
    scope.report_port(Y, text("Y with dims ", y->dim), text("as many elements as X has with dims ", x->dim),
                      "call set_dim() with sizes of that product");
}

void view_has_one_order(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    if (x == nullptr || fields_of(scope.node()).mode != ReshapeMode_t::VIEW_ONLY) return;
    if (x->dim.empty() || !has_regular_layout(*x)) return;
    if (!core::overlaps_itself(x->dim, x->stride)) return;
    scope.report_port(X, text("X with dims ", x->dim, " and strides ", x->stride),
                      "strides under which no two indices share an element, so that their order in memory is known",
                      "call set_reshape_mode(ReshapeMode_t::LOGICAL)");
}

void result_has_type(RuleScope const& scope) { moves::expect_type_of(scope, X, Y); }

constexpr Rule kRules[] = {
    {"reshape.c01", "The mode is set.", ATTRIBUTE_NOT_SET, has_mode},
    {"reshape.c02", "The result has dims, its own or the node's.", ATTRIBUTE_NOT_SET, result_has_dims},
    {"reshape.c03", "The result has the dims and strides that the node names.", INVALID_VALUE,
     result_is_as_the_node_says},
    {"reshape.c04", "The result has as many elements as X.", INVALID_VALUE, volumes_agree},
    {"reshape.c05", "With VIEW_ONLY no two indices of X share an element.", INVALID_VALUE, view_has_one_order},
    {"reshape.c06", "The result has X's data type.", INVALID_VALUE, result_has_type},
};

std::span<Rule const> rules() { return kRules; }

}  // namespace

constinit NodeSchema const ReshapeFields::schema = {
    NodeKind::Reshape, "RESHAPE", reshape::PortCount, kPortRows, kFieldRows, infer, rules, Computes::Nothing};

}  // namespace cudnn_frontend::nodes
