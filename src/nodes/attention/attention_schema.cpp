#include "nodes/attention/attention_schema.h"

#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::nodes {

bool has_rows_of_all_heads(TensorSpec const& tensor) {
    if (tensor.dim.size() != 4 || tensor.dim[2] == 1) return true;
    core::Dims const row{tensor.dim[1], tensor.dim[3]}, stride{tensor.stride[1], tensor.stride[3]};
    return tensor.stride[2] >= core::span_of(row, stride).value_or(0);
}

void infer_results(GraphSpec& graph, Node const& node) {
    attention::Sizes const sizes = attention_sizes(graph, node);
    auto const dims_of = [&](attention::Operand const& row) {
        if (row.gradient_of == attention::PortCount) return attention::dims_of(row.shape, sizes);
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
