#include "expand/scope.h"

#include "nodes/schema/schema.h"
#include "nodes/schema/wording.h"

#include <algorithm>

namespace cudnn_frontend::expand {

using ir::ValueId;

NodeScope::NodeScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node)
    : builder_(builder),
      tensors_(tensors),
      node_(node),
      name_(nodes::name_of_node(node)),
      compute_type_(node.compute_data_type == DataType_t::NOT_SET ? DataType_t::FLOAT : node.compute_data_type) {}

DataType_t NodeScope::compute_type_for(DataType_t result) const {
    bool const is_floating_point = result != DataType_t::INT32 && result != DataType_t::BOOLEAN;
    return is_floating_point ? compute_type() : result;
}

ValueId NodeScope::add_value(ir::Value value) {
    value.name = path(value.name);
    if (value.stride.empty()) value.stride = core::packed_strides(value.dim);
    return builder_.add(std::move(value));
}

ValueId NodeScope::add_virtual(std::string const& name, core::Dims dim, DataType_t type) {
    return add_value({.name = name, .type = type, .dim = std::move(dim)});
}

ValueId NodeScope::add_virtual(std::string const& name, core::Dims dim, core::Dims stride, DataType_t type) {
    return add_value({.name = name, .type = type, .dim = std::move(dim), .stride = std::move(stride)});
}

ValueId NodeScope::add_number(std::string const& name, double number) {
    return builder_.constant(path(name), detail::make_scalar(static_cast<float>(number)));
}

ValueId NodeScope::add_integer(std::string const& name, std::int64_t integer) {
    return builder_.constant(path(name), detail::make_scalar(static_cast<std::int32_t>(integer)));
}

ValueId NodeScope::add_table(std::string const& name, core::Dims dim, std::vector<double> table, DataType_t type) {
    ir::Value value{.name = name, .type = type, .dim = std::move(dim), .role = ir::Role::Constant};
    value.table = std::move(table);
    return add_value(std::move(value));
}

ValueId NodeScope::add_steps(ValueId sums) {
    ir::Value const of = value(sums);
    return builder_.add({.name = of.name + "::steps",
                         .type = DataType_t::INT32,
                         .dim = {of.dim[0] - 1, 1, 1, 1},
                         .stride = {1, 1, 1, 1},
                         .steps_of = sums});
}

static ir::PointwiseOp pointwise_op(PointwiseMode_t mode, std::initializer_list<ValueId> in, ValueId out) {
    ir::PointwiseOp op;
    op.mode = mode;
    std::copy(in.begin(), in.end(), op.in);
    op.out = out;
    return op;
}

ValueId NodeScope::pointwise(PointwiseMode_t mode, std::initializer_list<ValueId> in, ValueId out) {
    return emit(pointwise_op(mode, in, out), out);
}

ValueId NodeScope::masked(PointwiseMode_t mode, std::initializer_list<ValueId> in, ValueId out, ir::MaskedBy by) {
    ir::PointwiseOp op = pointwise_op(mode, in, out);
    op.masked_by = by;
    return emit(op, out);
}

ValueId NodeScope::index(ValueId shape, std::int64_t axis, ValueId out) {
    ir::PointwiseOp op = pointwise_op(PointwiseMode_t::GEN_INDEX, {shape}, out);
    op.axis = axis;
    return emit(op, out);
}

ValueId NodeScope::matmul(ir::MatmulOp const& op) { return emit(op, op.c); }

ValueId NodeScope::reduce(ReductionMode_t mode, ValueId x, ValueId y, bool is_deterministic) {
    return reduce({.mode = mode, .x = x, .y = y, .is_deterministic = is_deterministic});
}

ValueId NodeScope::reduce(ir::ReductionOp const& op) { return emit(op, op.y); }

ValueId NodeScope::random(ir::RngOp const& op) { return emit(op, op.y); }

ValueId NodeScope::load_pages(ir::PagedLoadOp const& op) { return emit(op, op.y); }

ValueId NodeScope::block_mask(ir::BlockMaskOp const& op) { return emit(op, op.y); }

ValueId NodeScope::dequantize(ir::BlockDequantizeOp const& op) { return emit(op, op.y); }

ValueId NodeScope::quantize(ir::BlockQuantizeOp const& op) { return emit(op, op.y); }

ValueId NodeScope::reshape(ValueId x, ValueId y) { return emit(ir::ReshapeOp{x, y}, y); }

ValueId NodeScope::transpose(ValueId x, core::Dims const& permutation, ValueId y) {
    return emit(ir::TransposeOp{x, y, permutation}, y);
}

ValueId NodeScope::window_product(ir::WindowProductOp const& op) { return emit(op, op.y); }

ValueId NodeScope::window_bias(ir::WindowBiasOp const& op) { return emit(op, op.y); }

ValueId NodeScope::window_bias_sum(ir::WindowBiasSumOp const& op) { return emit(op, op.y); }

// Results that the graph made are called after their node, "attention::O"; the user's own tensors are not.
std::string NodeScope::name_of_op(std::string const& result) const {
    return result.starts_with(path("")) ? result : path(result);
}

ValueId NodeScope::emit(ir::OpBody const& body, ValueId out) {
    ir::Value const result = value(out);
    builder_.add(ir::Op{.name = name_of_op(result.name), .compute_type = compute_type_for(result.type), .body = body});
    return out;
}

}  // namespace cudnn_frontend::expand
