// The operands of each operation as tables: listing, checking and printing walk them.
#pragma once

#include "ir/op_graph.h"

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
struct Ports<SdpaForwardOp> {
    using Op = SdpaForwardOp;
    static constexpr Port<Op> inputs[] = {{"q", &Op::q},
                                          {"k", &Op::k},
                                          {"v", &Op::v},
                                          {"scale", &Op::scale, Need::Optional},
                                          {"bias", &Op::bias, Need::Optional},
                                          {"sink", &Op::sink, Need::Optional},
                                          {"seq_len_q", &Op::seq_len_q, Need::Optional},
                                          {"seq_len_kv", &Op::seq_len_kv, Need::Optional},
                                          {"seed", &Op::seed, Need::Optional},
                                          {"offset", &Op::offset, Need::Optional},
                                          {"dropout_mask", &Op::dropout_mask, Need::Optional},
                                          {"dropout_scale", &Op::dropout_scale, Need::Optional},
                                          {"page_table_k", &Op::page_table_k, Need::Optional},
                                          {"page_table_v", &Op::page_table_v, Need::Optional},
                                          {"block_mask", &Op::block_mask, Need::Optional}};
    static constexpr Port<Op> outputs[] = {{"o", &Op::o},
                                           {"stats", &Op::stats, Need::Optional},
                                           {"max", &Op::max, Need::Optional},
                                           {"sum_exp", &Op::sum_exp, Need::Optional},
                                           {"rng_dump", &Op::rng_dump, Need::Optional}};
};

template <>
struct Ports<SdpaBackwardOp> {
    using Op = SdpaBackwardOp;
    static constexpr Port<Op> inputs[] = {{"q", &Op::q},
                                          {"k", &Op::k},
                                          {"v", &Op::v},
                                          {"o", &Op::o},
                                          {"d_o", &Op::d_o},
                                          {"stats", &Op::stats},
                                          {"scale", &Op::scale, Need::Optional},
                                          {"bias", &Op::bias, Need::Optional},
                                          {"sink", &Op::sink, Need::Optional},
                                          {"seq_len_q", &Op::seq_len_q, Need::Optional},
                                          {"seq_len_kv", &Op::seq_len_kv, Need::Optional},
                                          {"seed", &Op::seed, Need::Optional},
                                          {"offset", &Op::offset, Need::Optional},
                                          {"dropout_mask", &Op::dropout_mask, Need::Optional},
                                          {"dropout_scale", &Op::dropout_scale, Need::Optional}};
    static constexpr Port<Op> outputs[] = {{"d_q", &Op::d_q},
                                           {"d_k", &Op::d_k},
                                           {"d_v", &Op::d_v},
                                           {"d_bias", &Op::d_bias, Need::Optional},
                                           {"d_sink", &Op::d_sink, Need::Optional},
                                           {"rng_dump", &Op::rng_dump, Need::Optional}};
};

inline constexpr char const* kPointwiseLabels[] = {"in_0", "in_1", "in_2"};

}  // namespace cudnn_frontend::ir
