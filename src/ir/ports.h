// The operands of each operation as tables: listing, checking and printing walk them.
#pragma once

#include "ir/op_graph.h"

#include <type_traits>

namespace cudnn_frontend::ir {

enum class Need { Required, Optional };

template <class Body>
struct Port {
    char const* label;
    ValueId Body::*value;
    Need need = Need::Required;
};

template <class Body>
struct Ports;

template <>
struct Ports<MatmulOp> {
    static constexpr Port<MatmulOp> inputs[] = {{"a", &MatmulOp::a},
                                                {"b", &MatmulOp::b},
                                                {"m_override", &MatmulOp::m_override, Need::Optional},
                                                {"n_override", &MatmulOp::n_override, Need::Optional},
                                                {"k_override", &MatmulOp::k_override, Need::Optional}};
    static constexpr Port<MatmulOp> outputs[] = {{"c", &MatmulOp::c}};
};

template <>
struct Ports<ReductionOp> {
    static constexpr Port<ReductionOp> inputs[] = {{"x", &ReductionOp::x},
                                                   {"rows", &ReductionOp::rows, Need::Optional}};
    static constexpr Port<ReductionOp> outputs[] = {{"y", &ReductionOp::y}};
};

template <>
struct Ports<RngOp> {
    static constexpr Port<RngOp> inputs[] = {{"seed", &RngOp::seed}, {"offset", &RngOp::offset}};
    static constexpr Port<RngOp> outputs[] = {{"y", &RngOp::y}};
};

template <>
struct Ports<ReshapeOp> {
    static constexpr Port<ReshapeOp> inputs[] = {{"x", &ReshapeOp::x}};
    static constexpr Port<ReshapeOp> outputs[] = {{"y", &ReshapeOp::y}};
};

template <>
struct Ports<SliceOp> {
    static constexpr Port<SliceOp> inputs[] = {{"x", &SliceOp::x}};
    static constexpr Port<SliceOp> outputs[] = {{"y", &SliceOp::y}};
};

template <>
struct Ports<TransposeOp> {
    static constexpr Port<TransposeOp> inputs[] = {{"x", &TransposeOp::x}};
    static constexpr Port<TransposeOp> outputs[] = {{"y", &TransposeOp::y}};
};

template <>
struct Ports<PagedLoadOp> {
    static constexpr Port<PagedLoadOp> inputs[] = {
        {"container", &PagedLoadOp::container}, {"table", &PagedLoadOp::table}, {"length", &PagedLoadOp::length}};
    static constexpr Port<PagedLoadOp> outputs[] = {{"y", &PagedLoadOp::y}};
};

template <>
struct Ports<BlockMaskOp> {
    static constexpr Port<BlockMaskOp> inputs[] = {{"mask", &BlockMaskOp::mask}};
    static constexpr Port<BlockMaskOp> outputs[] = {{"y", &BlockMaskOp::y}};
};

template <>
struct Ports<BlockDequantizeOp> {
    static constexpr Port<BlockDequantizeOp> inputs[] = {{"x", &BlockDequantizeOp::x},
                                                         {"scale", &BlockDequantizeOp::scale}};
    static constexpr Port<BlockDequantizeOp> outputs[] = {{"y", &BlockDequantizeOp::y}};
};

template <>
struct Ports<BlockQuantizeOp> {
    static constexpr Port<BlockQuantizeOp> inputs[] = {{"x", &BlockQuantizeOp::x}};
    static constexpr Port<BlockQuantizeOp> outputs[] = {{"y", &BlockQuantizeOp::y}, {"scale", &BlockQuantizeOp::scale}};
};

template <>
struct Ports<WindowProductOp> {
    static constexpr Port<WindowProductOp> inputs[] = {{"a", &WindowProductOp::a}, {"b", &WindowProductOp::b}};
    static constexpr Port<WindowProductOp> outputs[] = {{"y", &WindowProductOp::y}};
};

template <>
struct Ports<WindowBiasOp> {
    static constexpr Port<WindowBiasOp> inputs[] = {{"x", &WindowBiasOp::x}};
    static constexpr Port<WindowBiasOp> outputs[] = {{"y", &WindowBiasOp::y}};
};

template <>
struct Ports<WindowBiasSumOp> {
    static constexpr Port<WindowBiasSumOp> inputs[] = {{"x", &WindowBiasSumOp::x}};
    static constexpr Port<WindowBiasSumOp> outputs[] = {{"y", &WindowBiasSumOp::y}};
};

// Attention's operands are in attention/attention_operands.h.
template <class Op>
concept Attention =
    std::is_same_v<std::remove_const_t<Op>, SdpaForwardOp> || std::is_same_v<std::remove_const_t<Op>, SdpaBackwardOp>;

// Calls visit(row of the table, value) for each operand, connected or not, that is used so.
template <Attention Op, class Visit>
void for_each_operand(Op& op, bool (*is_used_so)(attention::Use use), Visit const& visit) {
    for (attention::Operand const& row : attention::kOperands) {
        if (attention::is_of_operation(row) && is_used_so(row.*Op::kUse)) visit(row, op.operands[row.port]);
    }
}

// The operands of neighborhood attention are in attention/neighborhood_operands.h.
template <class Op, class Visit>
requires std::is_same_v<std::remove_const_t<Op>, NeighborhoodOp>
void for_each_operand(Op& op, bool (*is_used_so)(neighborhood::Use use), Visit const& visit) {
    for (neighborhood::OperandUses const& row : neighborhood::kOperands) {
        if (is_used_so(row.use_in(op.function))) visit(row, op.operands[row.port]);
    }
}

inline constexpr char const* kPointwiseLabels[] = {"in_0", "in_1", "in_2"};

}  // namespace cudnn_frontend::ir
