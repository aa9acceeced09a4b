#include "nodes/attention/attention_check_tools.h"

#include "core/data_type.h"
#include "nodes/attention/fp8.h"
#include "nodes/attention/paging.h"

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

void expect_dims(RuleScope const& scope, int port, core::Dims const& wanted, char const* meaning) {
    TensorSpec const* const tensor = scope.tensor_4d(port);
    if (tensor == nullptr || tensor->dim == wanted) return;
    scope.report_port(port, text(kPort, " with dims ", tensor->dim), text("dims ", wanted, ", ", meaning),
                      text("call set_dim() on ", kPort, " with these dims, or change what they follow from"));
}

void expect_broadcast(RuleScope const& scope, int port) {
    TensorSpec const* const tensor = scope.tensor_4d(port);
    core::Dims const scores = score_dims(scope);
    if (tensor == nullptr || scores.empty()) return;
    bool const fits = std::equal(tensor->dim.begin(), tensor->dim.end(), scores.begin(),
                                 [](std::int64_t size, std::int64_t full) { return size == full || size == 1; });
    if (fits) return;
    scope.report_port(port, text(kPort, " with dims ", tensor->dim),
                      text("dims ", scores, ", the scores' {B, Hq, Sq, Skv}, each of them or 1"),
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

}  // namespace cudnn_frontend::nodes::attention_checks
