// The transpose node: the dims of X in another order.
#include "nodes/primitives/moves.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

namespace cudnn_frontend::nodes {
namespace {

using namespace transpose;
using enum error_code_t;

constexpr std::array kPortRows = {
    PortRow{transpose::X, "X", Direction::Input, Presence::Required, "operand"},
    PortRow{transpose::Y, "Y", Direction::Output, Presence::Required, "the same elements under other indices"},
};

constexpr std::array kFieldRows = {
    field<TransposeFields, &TransposeFields::permutation>("permutation", "for each dim of Y, its dim of X"),
};

core::Dims const& permutation_of(Node const& node) { return std::get<TransposeFields>(node.fields).permutation; }

// Whether there is an X and the permutation fits it; another rule reports if not.
bool fits(Node const& node, TensorSpec const* x) {
    return x != nullptr && !x->dim.empty() && core::is_permutation(permutation_of(node), x->dim.size());
}

// X's strides, permuted, unless some elements of X overlap, which those of a result must not.
void infer(GraphSpec& graph, Node const& node) {
    moves::infer_type(graph, node, X, Y);
    TensorSpec const* const x = graph.tensor(node, X);
    TensorSpec* const y = graph.tensor(node, Y);
    if (y == nullptr || !fits(node, x)) return;
    core::Dims const dim = core::permuted(x->dim, permutation_of(node));
    bool const is_free = y->dim.empty() || y->dim == dim;
    bool const is_regular = x->stride.size() == x->dim.size() && has_regular_layout(*x);
    if (y->stride.empty() && is_free && is_regular && !core::overlaps_itself(x->dim, x->stride)) {
        y->stride = core::permuted(x->stride, permutation_of(node));
    }
    infer_output(y, dim);
}

void is_a_permutation(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    if (x == nullptr || x->dim.empty() || fits(scope.node(), x)) return;
    scope.report_node(text("the permutation ", permutation_of(scope.node())),
                      text("each of the dims 0 to ", x->dim.size() - 1, " of X once"),
                      "call set_permutation() with the dim of X for each dim of the result");
}

void result_has_permuted_dims(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    TensorSpec const* const y = scope.tensor(Y);
    if (y == nullptr || y->dim.empty() || !fits(scope.node(), x)) return;
    core::Dims const wanted = core::permuted(x->dim, permutation_of(scope.node()));
    if (y->dim == wanted) return;
    scope.report_port(Y, text("Y with dims ", y->dim),
                      text("dims ", wanted, ", those of X in the order of the permutation"),
                      "leave out set_dim() on the result");
}

void result_has_type(RuleScope const& scope) { moves::expect_type_of(scope, X, Y); }

constexpr Rule kRules[] = {
    {"transpose.c01", "The permutation names each dim of X once.", INVALID_VALUE, is_a_permutation},
    {"transpose.c02", "The result has the dims of X in the order of the permutation.", INVALID_VALUE,
     result_has_permuted_dims},
    {"transpose.c03", "The result has X's data type.", INVALID_VALUE, result_has_type},
};

std::span<Rule const> rules() { return kRules; }

}  // namespace

constinit NodeSchema const TransposeFields::schema = {
    NodeKind::Transpose, "TRANSPOSE", transpose::PortCount, kPortRows, kFieldRows, infer, rules, Computes::Nothing};

}  // namespace cudnn_frontend::nodes
