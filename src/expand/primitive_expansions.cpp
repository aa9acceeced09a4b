// Nodes that are one primitive operation.
#include "expand/node_expansions.h"

namespace cudnn_frontend::expand {

ir::PointwiseFunction function_of(nodes::PointwiseFields const& fields) {
    return {.mode = fields.mode,
            .axis = fields.axis.value_or(-1),
            .relu_lower_clip = fields.relu_lower_clip,
            .relu_upper_clip = fields.relu_upper_clip,
            .relu_lower_clip_slope = fields.relu_lower_clip_slope,
            .swish_beta = fields.swish_beta,
            .elu_alpha = fields.elu_alpha,
            .softplus_beta = fields.softplus_beta};
}

static void expand_pointwise(NodeScope& at) {
    using namespace nodes::pointwise;
    auto const& fields = std::get<nodes::PointwiseFields>(at.node().fields);
    at.add_node(ir::PointwiseOp{function_of(fields), {at.port(In0), at.port(In1), at.port(In2)}, at.port(Out0)});
}

static void expand_matmul(NodeScope& at) {
    using namespace nodes::matmul;
    ir::MatmulOp op;
    op.a = at.port(A);
    op.b = at.port(B);
    op.c = at.port(C);
    op.m_override = at.port(MOverride);
    op.n_override = at.port(NOverride);
    op.k_override = at.port(KOverride);
    op.padding = std::get<nodes::MatmulFields>(at.node().fields).padding_value;
    at.add_node(op);
}

static void expand_reduction(NodeScope& at) {
    using namespace nodes::reduction;
    auto const& fields = std::get<nodes::ReductionFields>(at.node().fields);
    at.add_node(ir::ReductionOp{
        .mode = fields.mode, .x = at.port(X), .y = at.port(Y), .is_deterministic = fields.is_deterministic});
}

static void expand_slice(NodeScope& at) {
    auto const& fields = std::get<nodes::SliceFields>(at.node().fields);
    ir::SliceOp op{at.port(nodes::slice::X), at.port(nodes::slice::Y), fields.start, fields.step};
    if (op.step.empty()) op.step.assign(op.start.size(), 1);
    at.add_node(op);
}

static void expand_reshape(NodeScope& at) {
    using namespace nodes::reshape;
    at.add_node(ir::ReshapeOp{at.port(X), at.port(Y), std::get<nodes::ReshapeFields>(at.node().fields).mode});
}

static void expand_transpose(NodeScope& at) {
    using namespace nodes::transpose;
    at.add_node(
        ir::TransposeOp{at.port(X), at.port(Y), std::get<nodes::TransposeFields>(at.node().fields).permutation});
}

void expand_primitive(NodeScope& at) {
    switch (at.node().kind()) {
        case nodes::NodeKind::Pointwise: return expand_pointwise(at);
        case nodes::NodeKind::Matmul: return expand_matmul(at);
        case nodes::NodeKind::Reduction: return expand_reduction(at);
        case nodes::NodeKind::Slice: return expand_slice(at);
        case nodes::NodeKind::Reshape: return expand_reshape(at);
        case nodes::NodeKind::Transpose: return expand_transpose(at);
        case nodes::NodeKind::SdpaForward:
        case nodes::NodeKind::SdpaBackward:
        case nodes::NodeKind::NeighborhoodForward:
        case nodes::NodeKind::NeighborhoodBackward:
        case nodes::NodeKind::NeighborhoodQk:
        case nodes::NodeKind::NeighborhoodQkBackward:
        case nodes::NodeKind::NeighborhoodAv:
        case nodes::NodeKind::NeighborhoodAvBackward: return;  // several operations
    }
}

}  // namespace cudnn_frontend::expand
