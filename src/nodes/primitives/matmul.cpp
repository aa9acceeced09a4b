// The matrix product node, over the last two dims.
#include "core/data_type.h"
#include "nodes/schema/rule.h"
#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::nodes {
namespace {

using namespace matmul;
using enum error_code_t;

constexpr std::array kPortRows = {
    PortRow{matmul::A, "A", Direction::Input, Presence::Required, "left factor {..., M, K}"},
    PortRow{matmul::B, "B", Direction::Input, Presence::Required, "right factor {..., K, N}"},
    PortRow{matmul::MOverride, "M_override", Direction::Input, Presence::Optional, "rows of each batch entry"},
    PortRow{matmul::NOverride, "N_override", Direction::Input, Presence::Optional, "columns of each batch entry"},
    PortRow{matmul::KOverride, "K_override", Direction::Input, Presence::Optional, "terms of each batch entry"},
    PortRow{matmul::C, "C", Direction::Output, Presence::Required, "product {..., M, N}"},
};

constexpr std::array kFieldRows = {
    field<MatmulFields, &MatmulFields::padding_value>("padding_value", "the value of C beyond the overrides"),
};

void infer(GraphSpec& graph, Node const& node) {
    TensorSpec const* const a = graph.tensor(node, matmul::A);
    TensorSpec const* const b = graph.tensor(node, matmul::B);
    if (a == nullptr || b == nullptr || a->dim.size() < 2 || a->dim.size() != b->dim.size()) return;
    core::Dims dim = a->dim;
    for (std::size_t i = 0; i + 2 < dim.size(); ++i) dim[i] = std::max(a->dim[i], b->dim[i]);
    dim.back() = b->dim.back();
    infer_output(graph.tensor(node, matmul::C), dim);
}

constexpr int kOverrides[] = {MOverride, NOverride, KOverride};

// The dims, or none if they cannot be those of a matrix, which other rules report.
core::Dims matrix_dims(RuleScope const& scope, int port) {
    TensorSpec const* const tensor = scope.tensor(port);
    if (tensor == nullptr || tensor->dim.size() < 2) return {};
    return std::ranges::all_of(tensor->dim, [](auto size) { return size > 0; }) ? tensor->dim : core::Dims();
}

struct Factors {
    core::Dims a, b;

    bool are_known() const { return !a.empty() && a.size() == b.size(); }
    std::size_t batch_dims() const { return a.size() - 2; }
};

Factors factors(RuleScope const& scope) { return {matrix_dims(scope, A), matrix_dims(scope, B)}; }

void factors_are_matrices(RuleScope const& scope) {
    for (int const port : {A, B}) {
        TensorSpec const* const tensor = scope.tensor(port);
        if (tensor == nullptr || tensor->dim.empty() || tensor->dim.size() >= 2) continue;
        scope.report_port(port, text(kPort, " with dims ", tensor->dim), "at least 2 dims, rows and columns",
                          "add a dim of size 1 for a vector");
    }
    TensorSpec const* const a = scope.tensor(A);
    TensorSpec const* const b = scope.tensor(B);
    if (a == nullptr || b == nullptr || a->dim.size() == b->dim.size()) return;
    if (a->dim.size() < 2 || b->dim.size() < 2) return;
    scope.report_port(B, text("B with ", b->dim.size(), " dims ", b->dim),
                      text(a->dim.size(), " dims, as A has with ", a->dim), "add batch dims of size 1 in front");
}

void inner_sizes_agree(RuleScope const& scope) {
    auto const [a, b] = factors(scope);
    if (a.empty() || b.empty() || a.size() != b.size() || a.back() == b[b.size() - 2]) return;
    scope.report_port(B, text("B with ", b[b.size() - 2], " rows in dims ", b),
                      text(a.back(), " rows, as many as A has columns in dims ", a),
                      "swap the last two dims and strides of the transposed factor");
}

void batches_divide(RuleScope const& scope) {
    Factors const f = factors(scope);
    if (!f.are_known()) return;
    for (std::size_t i = 0; i < f.batch_dims(); ++i) {
        auto const [fewer, more] = std::minmax({f.a[i], f.b[i]});
        if (more % fewer == 0) continue;
        scope.report_port(B, text("batch sizes ", f.a[i], " in A and ", f.b[i], " in B, dim ", i),
                          "batch sizes of which one divides the other", "repeat or drop entries of the smaller one");
    }
}

void product_has_dims(RuleScope const& scope) {
    Factors const f = factors(scope);
    core::Dims const c = matrix_dims(scope, C);
    if (!f.are_known() || c.empty()) return;
    core::Dims wanted = f.a;
    for (std::size_t i = 0; i < f.batch_dims(); ++i) wanted[i] = std::max(f.a[i], f.b[i]);
    wanted.back() = f.b.back();
    if (c == wanted) return;
    scope.report_port(C, text("C with dims ", c), text("dims ", wanted, ", the rows of A by the columns of B"),
                      "leave out set_dim() on the result to have it inferred");
}

void overrides_have_dims(RuleScope const& scope) {
    core::Dims const c = matrix_dims(scope, C);
    if (c.empty()) return;
    for (int const port : kOverrides) {
        TensorSpec const* const lengths = scope.tensor(port);
        if (lengths == nullptr || lengths->dim.empty()) continue;
        core::Dims const wanted{c[0], 1, 1, 1};
        if (c.size() == 4 && lengths->dim == wanted) continue;
        scope.report_port(port, text(kPort, " with dims ", lengths->dim, " for a product of dims ", c),
                          c.size() == 4 ? text("dims ", wanted, ", one length for each batch entry")
                                        : std::string("a product of 4 dims, and one length for each batch entry"),
                          "call set_dim({batch, 1, 1, 1}) on the lengths, and give A and B 4 dims");
    }
}

void overrides_are_int32(RuleScope const& scope) {
    for (int const port : kOverrides) {
        TensorSpec const* const lengths = scope.tensor(port);
        if (lengths == nullptr || !has_type(*lengths)) continue;
        if (lengths->data_type == DataType_t::INT32) continue;
        scope.report_port(port, text(kPort, " of type ", lengths->data_type), "type INT32",
                          "call set_data_type(DataType_t::INT32)");
    }
}

void overrides_are_given(RuleScope const& scope) { expect_given_lengths(scope, kOverrides); }

void factors_are_floating_point(RuleScope const& scope) {
    for (int const port : {A, B, C}) {
        TensorSpec const* const tensor = scope.tensor(port);
        if (tensor == nullptr || !has_type(*tensor)) continue;
        if (core::is_floating_point(tensor->data_type)) continue;
        scope.report_port(port, text(kPort, " of type ", tensor->data_type), "type HALF, BFLOAT16, FLOAT or DOUBLE",
                          "convert it with an IDENTITY pointwise node");
    }
}

void padding_is_finite(RuleScope const& scope) {
    double const padding = std::get<MatmulFields>(scope.node().fields).padding_value;
    if (std::isfinite(padding)) return;
    scope.report_node(text("the padding value ", padding), "a finite number",
                      "leave out set_padding(), and mask the product with BINARY_SELECT");
}

constexpr Rule kRules[] = {
    {"matmul.c01", "A and B have the same number of dims, at least 2.", INVALID_VALUE, factors_are_matrices},
    {"matmul.c02", "B has as many rows as A has columns.", INVALID_VALUE, inner_sizes_agree},
    {"matmul.c03", "In each batch dim, one of the sizes of A and B divides the other.", INVALID_VALUE, batches_divide},
    {"matmul.c04", "C has the larger of the batch sizes, the rows of A and the columns of B.", INVALID_VALUE,
     product_has_dims},
    {"matmul.c05", "Overrides have dims {B, 1, 1, 1}, and C has 4 dims with batch size B.", INVALID_VALUE,
     overrides_have_dims},
    {"matmul.c06", "Overrides are INT32.", GRAPH_NOT_SUPPORTED, overrides_are_int32},
    {"matmul.c07", "A, B and C are HALF, BFLOAT16, FLOAT or DOUBLE.", GRAPH_NOT_SUPPORTED, factors_are_floating_point},
    {"matmul.c08", "The padding value is finite.", INVALID_VALUE, padding_is_finite},
    {"matmul.c09", "Overrides are not computed by a node.", GRAPH_NOT_SUPPORTED, overrides_are_given},
};

std::span<Rule const> rules() { return kRules; }

}  // namespace

constinit NodeSchema const MatmulFields::schema = {
    NodeKind::Matmul, "MATMUL", matmul::PortCount, kPortRows, kFieldRows, infer, rules};

}  // namespace cudnn_frontend::nodes
