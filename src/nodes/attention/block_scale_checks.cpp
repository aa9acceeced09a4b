#include "nodes/attention/attention_checks.h"

#include "attention/block_scale.h"
#include "core/data_type.h"
#include "nodes/attention/attention_check_tools.h"
#include "nodes/attention/attention_node.h"

#include <algorithm>

namespace cudnn_frontend::nodes::block_scale_checks {
namespace {

using namespace attention;
using attention_checks::name;

constexpr bool is_result(Operand const& row) { return row.type == TypeClass::Result; }

bool is_scale_port(Node const& node, int port) {
    return std::ranges::any_of(block_scaled_ports(node), [&](BlockScaled const& row) { return row.scale == port; });
}

// Whether matrices of rows or of columns lie one after the other: the order inside them is that of the tiles.
bool has_no_gaps(TensorSpec const& tensor) {
    core::Dims const &dim = tensor.dim, &stride = tensor.stride;
    auto const matrix = core::volume({dim[2], dim[3]}), heads = core::volume({dim[1], dim[2], dim[3]});
    if (!matrix || !heads) return true;  // rules of the graph refuse such a size
    bool const is_matrix = (stride[3] == 1 && stride[2] == dim[3]) || (stride[2] == 1 && stride[3] == dim[2]);
    bool const has_heads = dim[1] == 1 || stride[1] == *matrix;
    return is_matrix && has_heads && (dim[0] == 1 || stride[0] == *heads);
}

void expect_like(RuleScope const& scope, int copy, int original) {
    TensorSpec const* const tensor = scope.tensor(original);
    if (tensor == nullptr) return;
    if (has_type(*tensor)) attention_checks::expect_type(scope, copy, tensor->data_type);
    if (scope.tensor_4d(original) == nullptr || copy == DOTransposed) return;
    attention_checks::expect_dims(scope, copy, tensor->dim, original == Q ? "those of Q" : "those of K");
}

}  // namespace

bool is_block_scale(TensorUses const& uses) {
    auto const reads_scales = [](PortUse const& use) { return is_scale_port(*use.node, use.port->port); };
    return uses.writers.empty() && !uses.readers.empty() && std::ranges::all_of(uses.readers, reads_scales);
}

void scales_are_e8m0(RuleScope const& scope) {
    for (BlockScaled const& row : block_scaled_ports(scope.node())) {
        attention_checks::expect_type(scope, row.scale, DataType_t::FP8_E8M0);
    }
}

void scales_have_dims(RuleScope const& scope) {
    for (BlockScaled const& row : block_scaled_ports(scope.node())) {
        TensorSpec const* const scale = scope.tensor(row.scale);
        TensorSpec const* const tensor = scope.tensor_4d(row.tensor);
        if (scale == nullptr || scale->dim.empty() || tensor == nullptr) continue;
        core::Dims const wanted = attention::padded_block_dims(tensor->dim, row.axis);
        if (scale->dim == wanted) continue;
        scope.report_port(row.scale, text(kPort, " with dims ", scale->dim),
                          text("dims ", wanted, ": of ", name(scope, row.tensor), "'s dims ", tensor->dim,
                               " a scale for each 32 along dim ", row.axis, ", padded to 4, and dim ", 5 - row.axis,
                               " padded to 128"),
                          "use the dims that mxfp8_scale_dim() of <cudnn_frontend/fp8.h> returns");
    }
}

void scales_are_tiled(RuleScope const& scope) {
    for (BlockScaled const& row : block_scaled_ports(scope.node())) {
        TensorSpec const* const scale = scope.tensor(row.scale);
        if (scale == nullptr) continue;
        auto const report = [&](std::string const& found, std::string needed, char const* fix) {
            scope.report_port(row.scale, text(kPort, found), std::move(needed), fix);
        };
        if (scale->is_by_value || scale->is_constant) {
            report(" passed by value", "a pointer to its elements", "call set_is_pass_by_value(false)");
        } else if (scale->reordering == TensorReordering_t::NONE) {
            report(" with the reordering NONE", "the reordering F8_128x4",
                   "call set_reordering_type(TensorReordering_t::F8_128x4)");
        } else if (scale->dim.size() == 4 && scale->stride.size() == 4 && !has_no_gaps(*scale)) {
            report(text(" with strides ", scale->stride),
                   "strides without gaps, the tiles of a head one after the other",
                   "leave out set_stride(), or call it with the row-major strides");
        }
    }
}

void scales_are_of_one_kind(RuleScope const& scope) {
    bool const has_blocks = is_block_scaled(scope.node());
    for (PortRow const& row : schema_of(scope.node().kind()).ports) {
        if (scope.tensor(row.port) == nullptr) continue;
        bool const is_input = row.direction == Direction::Input;
        if (!has_blocks && is_block_port(row.port)) {
            scope.report_port(row.port, text(row.name, " in attention that is not block-scaled"),
                              "one scale for each tensor, and no tensors of block-scaled attention",
                              "call the sdpa_fp8_backward() with block scales");
        }
        bool const is_excess = row.port == AmaxS || row.port == AmaxDP || (is_input && is_fp8_port(row.port));
        if (has_blocks && is_excess && !is_scale_port(scope.node(), row.port)) {
            scope.report_port(
                row.port, text(row.name, " in block-scaled attention"),
                "block scales of the inputs alone: the probabilities and the results have no factors",
                "leave the tensor out, or call the sdpa_fp8() or sdpa_fp8_backward() that has this argument");
        }
    }
}

void results_are_half(RuleScope const& scope) {
    if (!is_block_scaled(scope.node())) return;
    for (int const port : kPortsWhere<is_result>) {
        attention_checks::expect_one_of(scope, port, core::is_half, "type HALF or BFLOAT16: no scale comes with it",
                                        "call set_data_type(DataType_t::BFLOAT16)");
    }
}

void copies_agree(RuleScope const& scope) {
    if (!is_block_scaled(scope.node())) return;
    expect_like(scope, QTransposed, Q);
    expect_like(scope, KTransposed, K);
    expect_like(scope, DOTransposed, DO);
}

void rows_are_dense(RuleScope const& scope) {
    if (!is_block_scaled(scope.node())) return;
    for (int const port : kPortsWhere<may_be_ragged>) {
        TensorSpec const* const tensor = scope.tensor(port);
        bool const is_table = is_page_table(operand(port));
        if (tensor == nullptr || !(is_table || tensor->ragged_offset != kNoTensor)) continue;
        scope.report_port(port, text(is_table ? "the page table " : "ragged ", kPort),
                          "sequences padded to one length, since blocks of scales may not end with one",
                          "pad the sequences and set lengths, or use one scale for each tensor");
    }
}

}  // namespace cudnn_frontend::nodes::block_scale_checks
