#include "nodes/attention/attention_node.h"

#include <algorithm>
#include <limits>

namespace cudnn_frontend::nodes {
namespace {

using namespace attention;

// A size of a tensor with four dims; 0 where there is none.
std::int64_t size_of(GraphSpec const& graph, Node const& node, int port, std::size_t dim) {
    TensorSpec const* const tensor = graph.tensor(node, port);
    return tensor != nullptr && tensor->dim.size() == 4 ? std::max<std::int64_t>(tensor->dim[dim], 0) : 0;
}

std::int64_t room_of_table(GraphSpec const& graph, Node const& node, int port) {
    core::Dims const room{size_of(graph, node, page_table_port(port), 2), page_size(graph, node, port)};
    return core::volume(room).value_or(std::numeric_limits<std::int64_t>::max());
}

std::int64_t stated_key_count(Node const& node) {
    auto const* const forward = std::get_if<SdpaForwardFields>(&node.fields);
    return forward == nullptr ? 0 : std::max<std::int64_t>(forward->max_seq_len_kv.value_or(0), 0);
}

// The number of keys of paged K and V.
std::int64_t paged_key_count(GraphSpec const& graph, Node const& node) {
    if (std::int64_t const stated = stated_key_count(node); stated > 0) return stated;
    // One column would be shared by all keys.
    if (std::int64_t const columns = size_of(graph, node, Bias, 3); columns > 1) return columns;
    if (std::int64_t const columns = size_of(graph, node, RngDump, 3); columns > 0) return columns;
    return std::min(room_of_table(graph, node, K), room_of_table(graph, node, V));
}

}  // namespace

int page_table_port(int port) { return port == K ? PageTableK : PageTableV; }

bool is_paged(Node const& node, int port) {
    if (node.kind() != NodeKind::SdpaForward || (port != K && port != V)) return false;
    return node.ports[static_cast<std::size_t>(page_table_port(port))] != kNoTensor;
}

bool has_pages(Node const& node) { return is_paged(node, K) || is_paged(node, V); }

bool has_lengths(Node const& node) {
    auto const is_connected = [&](int port) { return node.ports[static_cast<std::size_t>(port)] != kNoTensor; };
    auto const are_there = [&](LengthPorts const& ports) {
        return is_connected(ports.lengths) || is_connected(ports.sums);
    };
    return are_there(kQueryLengths) && are_there(kKeyLengths);
}

bool imply_padding(Node& node) {
    auto* const forward = std::get_if<SdpaForwardFields>(&node.fields);
    if (forward == nullptr || forward->padding_mask || !has_pages(node) || !has_lengths(node)) return false;
    forward->padding_mask = forward->said.is_padding_implied = true;
    return true;
}

std::int64_t page_size(GraphSpec const& graph, Node const& node, int port) { return size_of(graph, node, port, 2); }

std::int64_t pages_for(std::int64_t keys, std::int64_t page_size) { return (keys - 1) / page_size + 1; }

std::int64_t key_count(GraphSpec const& graph, Node const& node) {
    for (int const port : {K, V}) {
        if (!is_paged(node, port)) return size_of(graph, node, port, 2);
    }
    return paged_key_count(graph, node);
}

core::Dims score_dims(GraphSpec const& graph, Node const& node) {
    TensorSpec const* const q = graph.tensor(node, Q);
    std::int64_t const keys = key_count(graph, node);
    if (q == nullptr || q->dim.size() != 4 || keys < 1) return {};
    return {q->dim[0], q->dim[1], q->dim[2], keys};
}

Sizes attention_sizes(GraphSpec const& graph, Node const& node) {
    core::Dims const scores = score_dims(graph, node);
    if (scores.empty()) return {};
    TensorSpec const* const v = graph.tensor(node, V);
    bool const has_width = v != nullptr && v->dim.size() == 4;
    return {scores[0], scores[1], scores[2], scores[3], has_width ? v->dim[3] : kUnknown};
}

}  // namespace cudnn_frontend::nodes
