#include "rewrite/attention.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

using attention::Port;

std::optional<Attention> Attention::of(nodes::ValidatedGraph const& graph) {
    nodes::GraphSpec const& spec = graph.spec();
    if (spec.nodes.size() != 1 || nodes::attention_fields(spec.nodes.front()) == nullptr) return {};
    return Attention(spec);
}

Attention::Attention(nodes::GraphSpec const& graph) : graph_(&graph) {
    core::Dims const& q = tensor(Port::Q)->dim;
    core::Dims const& k = tensor(Port::K)->dim;
    core::Dims const& v = tensor(Port::V)->dim;
    batches = q[0];
    query_heads = q[1];
    queries = q[2];
    head_dim = q[3];
    key_heads = k[1];
    keys = k[2];
    if (has(Port::Page_table_k)) keys *= tensor(Port::Page_table_k)->dim[2];
    value_heads = v[1];
    value_dim = v[3];
}

View Attention::view(int port) const {
    nodes::TensorId const id = node().ports[static_cast<std::size_t>(port)];
    nodes::TensorSpec const& tensor = graph_->tensors[static_cast<std::size_t>(id)];
    return {{Place::Of::Tensor, static_cast<std::size_t>(id), 0},
            tensor.data_type,
            tensor.dim,
            tensor.stride,
            tensor.alignment};
}

error_t check(char const* rewrite, std::span<Condition const> conditions, Attention const& attention) {
    std::string broken;
    for (Condition const& condition : conditions) {
        if (!condition.holds(attention)) broken += std::string("\n  ") + condition.id + ": " + condition.summary;
    }
    if (broken.empty()) return {};
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            std::string("the rewrite ") + rewrite + " does not apply; it needs:" + broken};
}

bool has_only(Attention const& attention, std::initializer_list<int> ports) {
    for (int port = 0; port < static_cast<int>(attention.node().ports.size()); ++port) {
        if (attention.has(port) && std::ranges::find(ports, port) == ports.end()) return false;
    }
    return true;
}

bool has_dense_tensors(Attention const& attention) {
    return std::ranges::all_of(attention.graph().tensors, [](nodes::TensorSpec const& tensor) {
        return tensor.ragged_offset == nodes::kNoTensor && tensor.reordering == TensorReordering_t::NONE &&
               tensor.vector_count == 1;
    });
}

}  // namespace cudnn_frontend::rewrite
