#include "nodes/attention/attention_checks.h"

#include "core/data_type.h"
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_node.h"

#include <cmath>

namespace cudnn_frontend::nodes::fp8_checks {
namespace {

using namespace attention;
using attention_checks::expect_one_of;
using attention_checks::name;

// Calls visit(row, tensor or null) for each port that only 8-bit attention has.
template <class Visit>
void for_each_fp8_port(RuleScope const& scope, Visit const& visit) {
    for (PortRow const& row : schema_of(scope.node().kind()).ports) {
        if (is_fp8_port(row.port)) visit(row, scope.tensor(row.port));
    }
}

constexpr bool is_8_bit_result(Operand const& row) { return row.type == TypeClass::Result && row.part == Part::Any; }
constexpr bool has_no_scale(Operand const& row) { return row.type == TypeClass::Wide; }

bool is_narrow(DataType_t type) { return core::is_fp8(type) || core::is_half(type); }

}  // namespace

static void block_scales_are_there(RuleScope const& scope) {
    auto const expect = [&](int port, char const* fix) {
        if (scope.tensor(port) != nullptr) return;
        scope.report_port(port, "no tensor (null) in block-scaled attention", text("the tensor ", kPort), fix);
    };
    for (BlockScaled const& row : block_scaled_ports(scope.node())) {
        if (is_block_port(row.tensor)) expect(row.tensor, "pass the numbers quantized in blocks along the sequence");
        expect(row.scale, "pass a tensor of FP8_E8M0, such as mxfp8_quantize() of <cudnn_frontend/fp8.h> makes it");
    }
    if (scope.node().kind() == NodeKind::SdpaBackward) expect(DOF16, "pass the gradient of O in HALF or BFLOAT16");
}

void factors_are_there(RuleScope const& scope) {
    if (!is_fp8(scope.node())) return;
    if (is_block_scaled(scope.node())) return block_scales_are_there(scope);
    for_each_fp8_port(scope, [&](PortRow const& row, TensorSpec const* tensor) {
        if (row.direction != Direction::Input || tensor != nullptr) return;
        scope.report_port(row.port, "no tensor (null) in FP8 attention",
                          text("the tensor ", row.name, ", ", row.summary),
                          "pass a tensor of one FLOAT; 1 where the numbers need no factor");
    });
}

void factors_are_float(RuleScope const& scope) {
    for_each_fp8_port(scope, [&](PortRow const& row, TensorSpec const* tensor) {
        bool const is_block_scale = is_block_scaled(scope.node()) && row.direction == Direction::Input;
        if (tensor == nullptr || is_block_scale) return;
        attention_checks::expect_own_dims(scope, row.port);
        attention_checks::expect_own_type(scope, row.port);
    });
}

// No rule knows a factor that is in memory, or comes by value with each run.
void known_factors_are_positive(RuleScope const& scope) {
    for_each_fp8_port(scope, [&](PortRow const& row, TensorSpec const* tensor) {
        if (tensor == nullptr || !tensor->value || tensor->value->type != DataType_t::FLOAT) return;
        double const factor = core::to_double(*tensor->value);
        if (std::isfinite(factor) && factor > 0.0) return;
        scope.report_port(row.port, text(row.name, " with the value ", static_cast<float>(factor)),
                          "a finite number greater than 0", "pick it with fp8_scale() of <cudnn_frontend/fp8.h>");
    });
}

void factors_of_products_are_fp8(RuleScope const& scope) {
    if (!is_fp8(scope.node())) return;
    for (int const port : {Q, DO}) {
        expect_one_of(scope, port, core::is_fp8, "type FP8_E4M3 or FP8_E5M2",
                      "convert it with its scale, or use sdpa() and sdpa_backward() for wider types");
    }
    TensorSpec const* const q = scope.tensor(Q);
    if (q == nullptr || !core::is_fp8(q->data_type)) return;
    for (int const port : {K, V}) attention_checks::expect_type(scope, port, q->data_type);
}

void results_are_narrow(RuleScope const& scope) {
    if (!is_fp8(scope.node()) || is_block_scaled(scope.node())) return;
    for (int const port : kPortsWhere<is_8_bit_result>) {
        expect_one_of(scope, port, is_narrow, "type FP8_E4M3, FP8_E5M2, HALF or BFLOAT16",
                      "call set_data_type(DataType_t::FP8_E4M3)");
    }
}

void side_tensors_are_wider(RuleScope const& scope) {
    if (!is_fp8(scope.node())) return;
    for (int const port : kPortsWhere<has_no_scale>) {
        expect_one_of(scope, port, attention_checks::is_wide, "type HALF, BFLOAT16 or FLOAT: no scale comes with it",
                      "call set_data_type(DataType_t::FLOAT)");
    }
}

void is_not_fused(RuleScope const& scope) {
    if (!asks_for_unified(scope.node()) || !is_fp8(scope.node())) return;
    scope.report_node("FP8 attention under the implementation UNIFIED", "the implementation AUTO or COMPOSITE",
                      "call set_implementation(AttentionImplementation_t::AUTO)");
}

}  // namespace cudnn_frontend::nodes::fp8_checks
