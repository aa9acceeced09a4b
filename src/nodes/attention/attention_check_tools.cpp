#include "nodes/attention/attention_check_tools.h"

#include "core/data_type.h"
#include "nodes/attention/attention_node.h"

#include <algorithm>

namespace cudnn_frontend::nodes::attention_checks {

char const* name(RuleScope const& scope, int port) { return port_name(scope.node().kind(), port); }

AttentionFields const& fields(RuleScope const& scope) { return *attention_fields(scope.node()); }

DataType_t io_type(RuleScope const& scope) {
    TensorSpec const* const q = scope.tensor(attention::Q);
    if (q == nullptr) return DataType_t::NOT_SET;
    return is_wide(q->data_type) ? q->data_type : DataType_t::NOT_SET;
}

bool is_wide(DataType_t type) { return core::is_half(type) || type == DataType_t::FLOAT; }

bool may_lack_table(RuleScope const& scope, int port) {
    TensorSpec const *const q = scope.tensor_4d(attention::Q), *const tensor = scope.tensor_4d(port);
    if (q == nullptr || tensor == nullptr || scope.node().kind() != NodeKind::SdpaForward) return false;
    return !is_paged(scope.node(), port) && tensor->dim[0] != q->dim[0];
}

std::int64_t key_count(RuleScope const& scope) {
    int const source = is_paged(scope.node(), attention::K) ? attention::V : attention::K;
    return may_lack_table(scope, source) ? 0 : nodes::key_count(scope.graph(), scope.node());
}

core::Dims score_dims(RuleScope const& scope) {
    bool const is_known =
        scope.tensor_4d(attention::Q) != nullptr && scope.tensor_4d(attention::K) != nullptr && key_count(scope) > 0;
    return is_known ? nodes::score_dims(scope.graph(), scope.node()) : core::Dims();
}

void expect_dims(RuleScope const& scope, int port, core::Dims const& wanted, std::string const& meaning) {
    TensorSpec const* const tensor = scope.tensor_4d(port);
    if (tensor == nullptr || tensor->dim == wanted) return;
    scope.report_port(port, text(kPort, " with dims ", tensor->dim), text("dims ", wanted, ", ", meaning),
                      text("call set_dim() on ", kPort, " with these dims, or change what they follow from"));
}

static void expect_broadcast(RuleScope const& scope, int port) {
    TensorSpec const* const tensor = scope.tensor_4d(port);
    core::Dims const scores = score_dims(scope);
    if (tensor == nullptr || scores.empty()) return;
    bool const fits = std::equal(tensor->dim.begin(), tensor->dim.end(), scores.begin(),
                                 [](std::int64_t size, std::int64_t full) { return size == full || size == 1; });
    if (fits) return;
    scope.report_port(port, text(kPort, " with dims ", tensor->dim),
                      text("dims ", scores, ", ", attention::operand(port).shape.meaning),
                      "set the dims that differ to 1 to share them, or to the scores' size");
}

void expect_type(RuleScope const& scope, int port, DataType_t type) {
    TensorSpec const* const tensor = scope.tensor(port);
    if (tensor == nullptr || !has_type(*tensor) || tensor->data_type == type) return;
    scope.report_port(port, text(kPort, " of type ", tensor->data_type), text("type ", type),
                      text("call set_data_type(DataType_t::", type, ")"));
}

void expect_one_of(RuleScope const& scope, int port, bool (*fits)(DataType_t type), char const* types,
                   char const* fix) {
    TensorSpec const* const tensor = scope.tensor(port);
    if (tensor == nullptr || !has_type(*tensor) || fits(tensor->data_type)) return;
    scope.report_port(port, text(kPort, " of type ", tensor->data_type), types, fix);
}

void expect_wide_type(RuleScope const& scope, int port) {
    if (is_fp8(scope.node()) || io_type(scope) == DataType_t::NOT_SET) return;  // Q's type is another rule's
    expect_one_of(scope, port, is_wide, "type HALF, BFLOAT16 or FLOAT", "call set_data_type() with one of these");
}

void expect_one_element(RuleScope const& scope, int port) {
    TensorSpec const* const tensor = scope.tensor(port);
    if (tensor == nullptr || tensor->dim.empty() || core::volume(tensor->dim) == 1) return;
    scope.report_port(port, text(kPort, " with dims ", tensor->dim), "one element, every dim 1",
                      "call set_dim({1, 1, 1, 1})");
}

// The sizes, as far as sound tensors give them.
static attention::Sizes sizes(RuleScope const& scope) {
    attention::Sizes sizes;
    if (TensorSpec const* const q = scope.tensor_4d(attention::Q)) {
        sizes.batches = q->dim[0], sizes.heads = q->dim[1], sizes.queries = q->dim[2];
    }
    if (TensorSpec const* const v = scope.tensor_4d(attention::V)) sizes.value_width = v->dim[3];
    if (core::Dims const scores = score_dims(scope); !scores.empty()) sizes.keys = scores[3];
    return sizes;
}

static void expect_like(RuleScope const& scope, int port, int source) {
    TensorSpec const* const original = scope.tensor_4d(source);
    if (original != nullptr) expect_dims(scope, port, original->dim, text("those of ", name(scope, source)));
}

void expect_own_dims(RuleScope const& scope, int port) {
    attention::Operand const& row = attention::operand(port);
    if (row.shape == attention::shapes::kNumber) return expect_one_element(scope, port);
    if (row.shape.broadcasts) return expect_broadcast(scope, port);
    if (attention::has_own_sizes(row)) return expect_like(scope, port, row.gradient_of);
    core::Dims const wanted = attention::dims_of(row.shape, sizes(scope));
    if (!wanted.empty()) expect_dims(scope, port, wanted, row.shape.meaning);
}

void expect_own_type(RuleScope const& scope, int port) {
    auto const is_integer = [](DataType_t type) { return type == DataType_t::INT32 || type == DataType_t::INT64; };
    TensorSpec const* const tensor = scope.tensor(port);
    bool const is_scalar = tensor != nullptr && tensor->value.has_value();
    using enum attention::TypeClass;
    switch (attention::operand(port).type) {
        case Io:
        case Result:
        case Wide: return expect_wide_type(scope, port);
        case Float: return expect_type(scope, port, DataType_t::FLOAT);
        case Floating:
            return expect_one_of(scope, port, core::is_floating_point, "a floating-point type",
                                 is_scalar ? "make the scalar of a float, such as tensor(1.0f)"
                                           : "call set_data_type(DataType_t::FLOAT)");
        case Integer:
            return expect_one_of(scope, port, is_integer, "INT32 or INT64",
                                 is_scalar ? "make the scalar of an std::int32_t or std::int64_t"
                                           : "call set_data_type(DataType_t::INT32)");
        case Int32: return expect_type(scope, port, DataType_t::INT32);
        case Uint8: return expect_type(scope, port, DataType_t::UINT8);
        case E8m0: return expect_type(scope, port, DataType_t::FP8_E8M0);
    }
}

}  // namespace cudnn_frontend::nodes::attention_checks
