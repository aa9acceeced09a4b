#include "rewrite/attention_node.h"

#include "nodes/schema/schema.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

using attention::Port;

std::optional<Attention> Attention::of(nodes::ValidatedGraph const& graph) {
    nodes::GraphSpec const& spec = graph.spec();
    if (spec.nodes.size() != 1 || nodes::attention_fields(spec.nodes.front()) == nullptr) return {};
    return Attention(spec);
}

// Whether the node computes, in no memory, what attention reads in place of its scores or of their gradient.
static bool is_of_modifier(nodes::GraphSpec const& spec, nodes::Node const& node, nodes::Node const& attention) {
    if (node.kind() != nodes::NodeKind::Pointwise || !spec.tensor(node, nodes::pointwise::Out0)->is_virtual)
        return false;
    bool is_inside = true;
    nodes::for_each_port(attention, nodes::Direction::Input, [&](nodes::PortRow const& row, nodes::TensorId id) {
        bool const is_modified = row.port == Port::ScoreMod || row.port == Port::DScoreMod;
        if (id == node.ports[nodes::pointwise::Out0] && !is_modified) is_inside = false;
    });
    nodes::for_each_port(attention, nodes::Direction::Output, [&](nodes::PortRow const& row, nodes::TensorId id) {
        bool const is_shown = row.port == Port::Score || row.port == Port::DScore;
        bool const is_read = std::ranges::find(node.ports, id) != node.ports.end();
        if (is_read && !is_shown) is_inside = false;
    });
    return is_inside;
}

std::optional<Attention> Attention::with_modifiers(nodes::ValidatedGraph const& graph) {
    nodes::GraphSpec const& spec = graph.spec();
    auto const is_attention = [](nodes::Node const& node) { return nodes::attention_fields(node) != nullptr; };
    auto const found = std::ranges::find_if(spec.nodes, is_attention);
    if (found == spec.nodes.end()) return {};
    for (nodes::Node const& node : spec.nodes) {
        if (&node != &*found && !is_of_modifier(spec, node, *found)) return {};
    }
    return Attention(spec, static_cast<std::size_t>(found - spec.nodes.begin()));
}

error_t no_attention(std::string const& rewrite) {
    constexpr core::Rule kIsAttention{"rewrite.c01", "a graph of one node, of attention or its backward",
                                      error_code_t::GRAPH_NOT_SUPPORTED};
    return refusal(rewrite, {kIsAttention});
}

Attention::Attention(nodes::GraphSpec const& graph, std::size_t index) : OnlyNode(graph, index) {
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
