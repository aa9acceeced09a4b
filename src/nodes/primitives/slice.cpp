// The slice node: every step-th element of X from start up to limit, in each dim.
#include "nodes/primitives/moves.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>

namespace cudnn_frontend::nodes {
namespace {

using namespace slice;
using enum error_code_t;

constexpr std::array kPortRows = {
    PortRow{slice::X, "X", Direction::Input, Presence::Required, "operand"},
    PortRow{slice::Y, "Y", Direction::Output, Presence::Required, "the elements within the intervals"},
};

constexpr std::array kFieldRows = {
    field<SliceFields, &SliceFields::start>("start", "the first index of each dim"),
    field<SliceFields, &SliceFields::limit>("limit", "one past the last index of each dim"),
    field<SliceFields, &SliceFields::step>("step", "distance between the indices of each dim; empty: 1"),
};

SliceFields const& fields_of(Node const& node) { return std::get<SliceFields>(node.fields); }

bool has_intervals(SliceFields const& fields, TensorSpec const& x) {
    return fields.start.size() == x.dim.size() && fields.limit.size() == x.dim.size();
}

bool has_steps(SliceFields const& fields, TensorSpec const& x) {
    bool const is_positive = std::ranges::all_of(fields.step, [](std::int64_t step) { return step >= 1; });
    return fields.step.empty() || (is_positive && fields.step.size() == x.dim.size());
}

// The first dim whose interval is empty or leaves X; X's rank if there is none.
std::size_t bad_interval(SliceFields const& fields, TensorSpec const& x) {
    std::size_t d = 0;
    while (d < x.dim.size() && 0 <= fields.start[d] && fields.start[d] < fields.limit[d] &&
           fields.limit[d] <= x.dim[d]) {
        ++d;
    }
    return d;
}

// Empty if the fields do not fit X, which another rule reports.
core::Dims result_dims(SliceFields const& fields, TensorSpec const* x) {
    bool const fits = x != nullptr && has_intervals(fields, *x) && has_steps(fields, *x);
    if (!fits || bad_interval(fields, *x) < x->dim.size()) return {};
    core::Dims dim;
    for (std::size_t d = 0; d < x->dim.size(); ++d) {
        std::int64_t const step = fields.step.empty() ? 1 : fields.step[d];
        dim.push_back((fields.limit[d] - fields.start[d] - 1) / step + 1);
    }
    return dim;
}

void infer(GraphSpec& graph, Node const& node) {
    moves::infer_type(graph, node, X, Y);
    core::Dims const dim = result_dims(fields_of(node), graph.tensor(node, X));
    if (!dim.empty()) infer_output(graph.tensor(node, Y), dim);
}

void has_interval_for_each_dim(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    SliceFields const& fields = fields_of(scope.node());
    if (x == nullptr || x->dim.empty() || has_intervals(fields, *x)) return;
    scope.report_node(text(fields.start.size(), " starts and ", fields.limit.size(), " limits"),
                      text(x->dim.size(), " of each, for X with dims ", x->dim),
                      "call set_slices() with a start and a limit for each dim");
}

void intervals_are_inside(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    SliceFields const& fields = fields_of(scope.node());
    if (x == nullptr || x->dim.empty() || !has_intervals(fields, *x)) return;
    std::size_t const d = bad_interval(fields, *x);
    if (d == x->dim.size()) return;
    scope.report_node(text("the interval from ", fields.start[d], " to ", fields.limit[d], " in dim ", d),
                      text("an interval that is not empty, within 0 to ", x->dim[d]),
                      text("call set_slices() with {0, ", x->dim[d], "} to keep the dim as it is"));
}

void steps_are_positive(RuleScope const& scope) {
    TensorSpec const* const x = scope.tensor(X);
    SliceFields const& fields = fields_of(scope.node());
    if (x == nullptr || x->dim.empty() || has_steps(fields, *x)) return;
    scope.report_node(text("the steps ", fields.step),
                      text("a step of at least 1 for each of ", x->dim.size(), " dims"),
                      "leave set_strides() out for steps of 1");
}

void result_has_length_of_intervals(RuleScope const& scope) {
    TensorSpec const* const y = scope.tensor(Y);
    core::Dims const wanted = result_dims(fields_of(scope.node()), scope.tensor(X));
    if (y == nullptr || y->dim.empty() || wanted.empty() || y->dim == wanted) return;
    scope.report_port(Y, text("Y with dims ", y->dim), text("dims ", wanted, ", one for each index that is kept"),
                      "leave out set_dim() on the result");
}

void result_has_type(RuleScope const& scope) { moves::expect_type_of(scope, X, Y); }

constexpr Rule kRules[] = {
    {"slice.c01", "There is a start and a limit for each dim of X.", INVALID_VALUE, has_interval_for_each_dim},
    {"slice.c02", "Each interval contains at least one index, and only indices of X.", INVALID_VALUE,
     intervals_are_inside},
    {"slice.c03", "There is a step of at least 1 for each dim of X, or none at all.", INVALID_VALUE,
     steps_are_positive},
    {"slice.c04", "The result has one element for each index that is kept.", INVALID_VALUE,
     result_has_length_of_intervals},
    {"slice.c05", "The result has X's data type.", INVALID_VALUE, result_has_type},
};

std::span<Rule const> rules() { return kRules; }

}  // namespace

constinit NodeSchema const SliceFields::schema = {NodeKind::Slice, "SLICE", slice::PortCount, kPortRows, kFieldRows,
                                                  infer,           rules,   Computes::Nothing};

}  // namespace cudnn_frontend::nodes
