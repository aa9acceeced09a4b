#include "nodes/attention_schema.h"

namespace cudnn_frontend::inline v1::nodes {

void infer_output(TensorSpec* tensor, core::Dims const& dim) {
    if (tensor == nullptr) return;
    if (tensor->dim.empty()) tensor->dim = dim;
    if (tensor->stride.empty()) tensor->stride = core::packed_strides(tensor->dim);
}

void infer_output(TensorSpec* tensor, core::Dims const& dim, DataType_t type) {
    if (tensor == nullptr) return;
    infer_output(tensor, dim);
    if (tensor->data_type == DataType_t::NOT_SET) tensor->data_type = type;
}

core::Dims score_dims(GraphSpec const& graph, Node const& node) {
    TensorSpec const* const q = graph.tensor(node, attention::Q);
    TensorSpec const* const k = graph.tensor(node, attention::K);
    if (q == nullptr || k == nullptr || q->dim.size() != 4 || k->dim.size() != 4) return {};
    return {q->dim[0], q->dim[1], q->dim[2], k->dim[2]};
}

}  // namespace cudnn_frontend::inline v1::nodes
