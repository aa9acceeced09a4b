#include "nodes/attention/attention_node.h"

#include "core/data_type.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::nodes {
namespace {

bool is_one_element(TensorSpec const& tensor) { return !tensor.dim.empty() && core::volume(tensor.dim) == 1; }

bool is_scale(TensorSpec const& tensor) { return is_one_element(tensor) && tensor.data_type == DataType_t::FLOAT; }

// Whether a rule accepts the tensor as a mask, and no rule as a scale.
bool is_mask_alone(TensorSpec const& tensor, core::Dims const& scores) {
    bool const is_half = core::is_half(tensor.data_type);
    if (is_one_element(tensor)) return is_half;
    bool const broadcasts = std::ranges::equal(
        tensor.dim, scores, [](std::int64_t size, std::int64_t full) { return size == full || size == 1; });
    return broadcasts && (is_half || tensor.data_type == DataType_t::FLOAT);
}

}  // namespace

bool put_dropout_in_order(GraphSpec const& graph, Node& node) {
    if (attention_fields(node) == nullptr) return false;
    TensorSpec const* const mask = graph.tensor(node, attention::DropoutMask);
    TensorSpec const* const scale = graph.tensor(node, attention::DropoutScale);
    if (mask == nullptr || scale == nullptr || !is_scale(*mask)) return false;
    if (!is_mask_alone(*scale, score_dims(graph, node))) return false;
    std::swap(node.ports[attention::DropoutMask], node.ports[attention::DropoutScale]);
    return true;
}

}  // namespace cudnn_frontend::nodes
