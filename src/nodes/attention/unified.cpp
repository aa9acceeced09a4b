#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::nodes {

static bool is_connected(Node const& node, int port) { return node.ports[static_cast<std::size_t>(port)] != kNoTensor; }

int sums_port(Node const& node) {
    if (!attention_fields(node)->padding_mask) return -1;
    for (auto const [lengths, sums] : {attention::kQueryLengths, attention::kKeyLengths}) {
        if (is_connected(node, sums)) return sums;
    }
    return -1;
}

int multiplied_port(GraphSpec const& graph, Node const& node) {
    for (int port = 0; port < attention::PortCount; ++port) {
        TensorSpec const* const tensor = graph.tensor(node, port);
        if (tensor != nullptr && tensor->ragged_offset_multiplier != 1) return port;
    }
    return -1;
}

bool unfuses_multiplication(Node const& node) {
    auto const* const forward = std::get_if<SdpaForwardFields>(&node.fields);
    return forward != nullptr && forward->unfuse_fma;
}

bool asks_for_unified(Node const& node) {
    auto const* const forward = std::get_if<SdpaForwardFields>(&node.fields);
    return forward != nullptr && forward->implementation == AttentionImplementation_t::UNIFIED;
}

bool needs_unified(GraphSpec const& graph, Node const& node) {
    if (node.kind() != NodeKind::SdpaForward) return false;
    return is_connected(node, attention::BlockMask) || sums_port(node) >= 0 || multiplied_port(graph, node) >= 0 ||
           unfuses_multiplication(node);
}

bool is_told_as_unified(GraphSpec const& graph, Node const& node) {
    return asks_for_unified(node) || needs_unified(graph, node);
}

}  // namespace cudnn_frontend::nodes
