#include "rewrite/attention_node.h"

#include "nodes/schema/schema.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

using attention::Port;

std::optional<Attention> Attention::of(nodes::ValidatedGraph const& graph) {
    nodes::GraphSpec const& spec = graph.spec();
    auto const attention = with_modifiers(graph);
    return attention && spec.nodes.front().modifier.empty() ? attention : std::nullopt;
}

std::optional<Attention> Attention::with_modifiers(nodes::ValidatedGraph const& graph) {
    nodes::GraphSpec const& spec = graph.spec();
    if (spec.nodes.size() != 1 || nodes::attention_fields(spec.nodes.front()) == nullptr) return {};
    auto const is_in_no_memory = [&](nodes::Node const& node) {
        return node.kind() == nodes::NodeKind::Pointwise && spec.tensor(node, nodes::pointwise::Out0)->is_virtual;
    };
    if (!std::ranges::all_of(spec.nodes.front().modifier, is_in_no_memory)) return {};
    return Attention(spec);
}

error_t no_attention(std::string const& rewrite) {
    constexpr core::Rule kIsAttention{"rewrite.c01", "a graph of one node, of attention or its backward",
                                      error_code_t::GRAPH_NOT_SUPPORTED};
    return refusal(rewrite, {kIsAttention});
}

Attention::Attention(nodes::GraphSpec const& graph) : OnlyNode(graph) {
    core::Dims const& q = tensor(Port::Q)->dim;
    core::Dims const& k = tensor(Port::K)->dim;
    core::Dims const& v = tensor(Port::V)->dim;
    batches = q[0];
    query_heads = q[1];
    queries = q[2];
    head_dim = q[3];
    key_heads = k[1];
    keys = k[2];
    if (has(Port::PageTableK)) keys *= tensor(Port::PageTableK)->dim[2];
    value_heads = v[1];
    value_dim = v[3];
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

bool has_gradients(Attention const& attention) {
    constexpr int kGradients[] = {Port::DQ, Port::DK, Port::DV};
    return !attention.is_backward() || std::ranges::all_of(kGradients, [&](int port) { return attention.has(port); });
}

}  // namespace cudnn_frontend::rewrite
