// Nodes that are one primitive operation.
#include "expand/node_expansions.h"

#include <utility>
#include <vector>

namespace cudnn_frontend::expand {

using ir::ValueId;

// What a modifier reads: of its own results none lies in memory, where rows can be repeated.
static ValueId operand_with_rows(NodeScope& at, int port, bool is_backward) {
    ValueId const id = at.port(port);
    if (id == ir::kNoValue || at.value(id).role != ir::Role::Input) return id;
    core::Dims const out = at.value(at.port(nodes::pointwise::Out_0)).dim;
    bool const is_four = at.value(id).dim.size() == 4 && out.size() == 4;
    return is_four ? at.repeat_row_if_needed(id, out[2], is_backward) : id;
}

// Forward's engines split the keys of one query, and count each part's columns from 0; where heads share keys, they
// count the key heads.
static bool is_miscounted(NodeScope& at, Operands operands) {
    auto const& fields = std::get<nodes::PointwiseFields>(at.node().fields);
    core::Dims const& dim = at.graph().tensor(at.node(), nodes::pointwise::Out_0)->dim;
    bool const is_one_row = operands == Operands::OfForward && dim.size() == 4 && dim[2] == 1;
    return is_one_row && fields.mode == PointwiseMode_t::GEN_INDEX && (fields.axis == 1 || fields.axis == 3);
}

// The index as 0 and numbers from memory: the row is 0, and engines take no first operand that lies in memory.
static void expand_index_of_one_query(NodeScope& at) {
    using namespace nodes::pointwise;
    std::int64_t const axis = *std::get<nodes::PointwiseFields>(at.node().fields).axis;
    ir::ValueId const result = at.port(Out_0);
    ir::Value const index = at.value(result);
    ir::ValueId const row =
        at.add({.name = index.name + "::row", .type = index.type, .dim = index.dim, .stride = index.stride});
    core::Dims const dim{1, axis == 1 ? index.dim[1] : 1, 1, index.dim[3]};
    std::vector<double> numbers;
    for (std::int64_t h = 0; h < dim[1]; ++h) {
        for (std::int64_t j = 0; j < dim[3]; ++j) numbers.push_back(static_cast<double>(axis == 1 ? h : j));
    }
    ir::ValueId const counted = at.add_table(index.name + "::counted", dim, std::move(numbers), index.type);
    DataType_t const compute = at.compute_type_for(index.type);
    ir::PointwiseOp of_row{.mode = PointwiseMode_t::GEN_INDEX}, sum{.mode = PointwiseMode_t::ADD};
    of_row.in[0] = at.port(In_0), of_row.out = row, of_row.axis = 2;
    sum.in[0] = row, sum.in[1] = counted, sum.out = result;
    at.add(ir::Op{at.name() + "::row", compute, of_row});
    at.add(ir::Op{at.name(), compute, sum});
}

static void expand_pointwise(NodeScope& at, Operands operands) {
    using namespace nodes::pointwise;
    if (is_miscounted(at, operands)) return expand_index_of_one_query(at);
    auto const operand = [&](int port) {
        if (operands == Operands::OfNode) return at.port(port);
        return operand_with_rows(at, port, operands == Operands::OfBackward);
    };
    auto const& fields = std::get<nodes::PointwiseFields>(at.node().fields);
    ir::PointwiseOp op;
    op.mode = fields.mode;
    op.in[0] = operand(In_0);
    op.in[1] = operand(In_1);
    op.in[2] = operand(In_2);
    op.out = at.port(Out_0);
    op.axis = fields.axis.value_or(-1);
    op.relu_lower_clip = fields.relu_lower_clip;
    op.relu_upper_clip = fields.relu_upper_clip;
    op.relu_lower_clip_slope = fields.relu_lower_clip_slope;
    op.swish_beta = fields.swish_beta;
    op.elu_alpha = fields.elu_alpha;
    op.softplus_beta = fields.softplus_beta;
    at.add_node(op);
}

static void expand_matmul(NodeScope& at) {
    using namespace nodes::matmul;
    ir::MatmulOp op;
    op.a = at.port(A);
    op.b = at.port(B);
    op.c = at.port(C);
    op.m_override = at.port(M_override);
    op.n_override = at.port(N_override);
    op.k_override = at.port(K_override);
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

void expand_primitive(NodeScope& at, Operands operands) {
    switch (at.node().kind()) {
        case nodes::NodeKind::Pointwise: return expand_pointwise(at, operands);
        case nodes::NodeKind::Matmul: return expand_matmul(at);
        case nodes::NodeKind::Reduction: return expand_reduction(at);
        case nodes::NodeKind::Slice: return expand_slice(at);
        case nodes::NodeKind::Reshape: return expand_reshape(at);
        case nodes::NodeKind::Transpose: return expand_transpose(at);
        case nodes::NodeKind::SdpaForward:
        case nodes::NodeKind::SdpaBackward: return;  // several operations
    }
}

}  // namespace cudnn_frontend::expand
