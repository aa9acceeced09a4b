#include "nodes/neighborhood/neighborhood_schema.h"

#include "nodes/attention/attention_schema.h"

#include <algorithm>

namespace cudnn_frontend::nodes {

using namespace neighborhood;

static bool are_positive(core::Dims const& sizes) {
    return std::ranges::all_of(sizes, [](std::int64_t size) { return size >= 1; });
}

Function neighborhood_function(Node const& node) {
    switch (node.kind()) {
        case NodeKind::NeighborhoodBackward: return Function::Backward;
        case NodeKind::NeighborhoodQk: return Function::Qk;
        case NodeKind::NeighborhoodQkBackward: return Function::QkBackward;
        case NodeKind::NeighborhoodAv: return Function::Av;
        case NodeKind::NeighborhoodAvBackward: return Function::AvBackward;
        default: return Function::Forward;
    }
}

bool has_heads_last(Node const& node) { return neighborhood::has_heads_last(neighborhood_function(node)); }

int leading_port(Node const& node) { return neighborhood::leading_port(neighborhood_function(node)); }

std::optional<NeighborhoodSizes> neighborhood_sizes(GraphSpec const& graph, Node const& node) {
    TensorSpec const* const tensor = graph.tensor(node, leading_port(node));
    if (tensor == nullptr || tensor->dim.size() < 4 || tensor->dim.size() > 3 + kMostAxes) return {};
    if (!are_positive(tensor->dim)) return {};
    return sizes_of(neighborhood_function(node), tensor->dim);
}

core::Dims neighborhood_dims(GraphSpec const& graph, Node const& node, int port) {
    auto const sizes = neighborhood_sizes(graph, node);
    if (!sizes) return {};
    return dims_of(neighborhood_function(node), *sizes, *neighborhood_fields(node), static_cast<Port>(port));
}

void infer_neighborhood(GraphSpec& graph, Node const& node) {
    for_each_port(node, Direction::Output, [&](PortRow const& row, TensorId) {
        TensorSpec& tensor = *graph.tensor(node, row.port);
        if (row.port == Stats && tensor.data_type == DataType_t::NOT_SET) tensor.data_type = DataType_t::FLOAT;
        core::Dims const dim = neighborhood_dims(graph, node, row.port);
        if (!dim.empty()) infer_output(&tensor, dim);
    });
}

}  // namespace cudnn_frontend::nodes
