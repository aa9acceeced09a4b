#include "nodes/attention/attention_schema.h"

#include "nodes/attention/fp8.h"

#include <limits>

namespace cudnn_frontend::nodes {

core::Dims rows_first_strides(core::Dims const& dim) {
    core::Dims const stride = core::packed_strides({dim[0], dim[2], dim[1], dim[3]});
    return {stride[0], stride[2], stride[1], stride[3]};
}

core::Dims boundary_dims(std::int64_t batches) {
    if (batches == std::numeric_limits<std::int64_t>::max()) return {};  // a rule refuses so many
    return {batches + 1, 1, 1, 1};
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

void infer_amaxes(GraphSpec& graph, Node const& node) {
    for_each_port(node, Direction::Output, [&](PortRow const& row, TensorId) {
        if (is_fp8_port(row.port)) infer_output(graph.tensor(node, row.port), {1, 1, 1, 1}, DataType_t::FLOAT);
    });
}

}  // namespace cudnn_frontend::nodes
