#include "nodes/attention/attention_schema.h"

#include "nodes/attention/paging.h"

namespace cudnn_frontend::nodes {

core::Dims rows_first_strides(core::Dims const& dim) {
    core::Dims const stride = core::packed_strides({dim[0], dim[2], dim[1], dim[3]});
    return {stride[0], stride[2], stride[1], stride[3]};
}

void infer_output(TensorSpec* tensor, core::Dims const& dim) {
    if (tensor == nullptr) return;
    if (tensor->dim.empty()) tensor->dim = dim;
    if (!tensor->stride.empty()) return;
    bool const is_ragged = tensor->ragged_offset != kNoTensor && tensor->dim.size() == 4;
    tensor->stride = is_ragged ? rows_first_strides(tensor->dim) : core::packed_strides(tensor->dim);
}

void infer_output(TensorSpec* tensor, core::Dims const& dim, DataType_t type) {
    if (tensor == nullptr) return;
    infer_output(tensor, dim);
    if (tensor->data_type == DataType_t::NOT_SET) tensor->data_type = type;
}

void infer_results(GraphSpec& graph, Node const& node) {
    attention::Sizes const sizes = attention_sizes(graph, node);
    auto const dims_of = [&](attention::Operand const& row) {
        if (row.gradient_of == attention::kPorts) return attention::dims_of(row.shape, sizes);
        TensorSpec const* const source = graph.tensor(node, row.gradient_of);
        return source == nullptr ? core::Dims() : source->dim;
    };
    for_each_port(node, Direction::Output, [&](PortRow const& port, TensorId) {
        attention::Operand const& row = attention::operand(port.port);
        core::Dims const dims = dims_of(row);
        if (dims.empty()) return;
        TensorSpec* const tensor = graph.tensor(node, port.port);
        if (row.type == attention::TypeClass::Float) infer_output(tensor, dims, DataType_t::FLOAT);
        else infer_output(tensor, dims);
    });
}

}  // namespace cudnn_frontend::nodes
