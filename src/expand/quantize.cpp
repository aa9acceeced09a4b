#include "expand/attention_steps.h"

#include "attention/block_scale.h"
#include "nodes/schema/schema.h"

#include <utility>

namespace cudnn_frontend::expand {

using ir::ValueId;
using enum PointwiseMode_t;

namespace {

nodes::BlockScaled const* blocks_of(AttentionScope const& at, int port) {
    for (nodes::BlockScaled const& row : nodes::block_scaled_ports(at.node())) {
        if (row.tensor == port) return &row;
    }
    return nullptr;
}

std::string name_of(AttentionScope const& at, int port) { return nodes::port_name(at.node().kind(), port); }

// Strides without gaps and repetitions, in the order in which x has rows and columns.
core::Dims dense_strides(ir::Value const& x) {
    core::Dims dim = x.dim;
    bool const is_transposed = x.stride[2] < x.stride[3];
    if (is_transposed) std::swap(dim[2], dim[3]);
    core::Dims stride = core::packed_strides(dim);
    if (is_transposed) std::swap(stride[2], stride[3]);
    return stride;
}

ValueId dequantized(AttentionScope& at, ir::BlockDequantizeOp op, std::string const& name) {
    ir::Value const x = at.value(op.x);
    op.y = at.add_virtual(name, x.dim, dense_strides(x), DataType_t::FLOAT);
    return at.dequantize(op);
}

}  // namespace

ValueId operand(AttentionScope& at, int port) {
    nodes::BlockScaled const* const blocks = blocks_of(at, port);
    if (blocks == nullptr) return at.port(port);
    ir::BlockDequantizeOp const op{
        .x = at.port(port), .scale = at.port(blocks->scale), .axis = std::int64_t(blocks->axis)};
    return dequantized(at, op, "wide_" + name_of(at, port));
}

ValueId transposed_operand(AttentionScope& at, int port) {
    ValueId const x = at.transposed(at.port(port));
    nodes::BlockScaled const* const blocks = blocks_of(at, port);
    if (blocks == nullptr) return x;
    std::int64_t const axis = blocks->axis == 2 ? 3 : 2;
    ir::BlockDequantizeOp const op{.x = x, .scale = at.transposed(at.port(blocks->scale)), .axis = axis};
    return dequantized(at, op, "wide_" + name_of(at, port) + "^T");
}

ValueId requantized(AttentionScope& at, ValueId x, DataType_t type, std::int64_t axis, std::string const& name) {
    if (!at.is_block_scaled()) return x;
    core::Dims const dim = at.value(x).dim;
    ValueId const narrow = at.add_virtual("narrow_" + name, dim, dense_strides(at.value(x)), type);
    core::Dims const blocks = attention::block_dims(dim, static_cast<std::size_t>(axis));
    ValueId const scale = at.add_virtual("scales_of_" + name, blocks, DataType_t::FP8_E8M0);
    at.quantize({.x = x, .y = narrow, .scale = scale, .axis = axis});
    return dequantized(at, {.x = narrow, .scale = scale, .axis = axis}, "wide_" + name);
}

ValueId descaled(AttentionScope& at, ValueId x, std::initializer_list<int> ports, std::string const& name) {
    if (!at.has_factors()) return x;
    for (int const port : ports) {
        std::string const step = name + "_by_" + nodes::port_name(at.node().kind(), port);
        x = at.pointwise(MUL, {x, at.port(port)}, at.add_virtual(step, at.value(x).dim, DataType_t::FLOAT));
    }
    return x;
}

ValueId quantized(AttentionScope& at, ValueId x, Quantization const& how, ValueId out) {
    if (at.is_connected(how.amax_port)) at.reduce(ReductionMode_t::AMAX, x, at.port(how.amax_port));
    return at.pointwise(MUL, {x, at.port(how.scale_port)}, out);
}

}  // namespace cudnn_frontend::expand
