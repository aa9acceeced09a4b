#include "cudnn/planning/neighborhood_cost.h"

#include "core/data_type.h"
#include "nodes/neighborhood/neighborhood_schema.h"

#include <algorithm>
#include <cmath>

namespace cudnn_frontend::cudnn {
namespace {

// A block has so many tokens of a group, and goes through what they see in tiles of as many.
constexpr double kTile = 64.0;

// By tokens, where rows do not fit the tiles, the same work takes so many times as long.
constexpr double kByTokens = 13.0;

bool fits_tiles(std::int64_t width) { return width <= 128 && width % 8 == 0; }

double tiles(double tokens) { return std::ceil(tokens / kTile); }

struct Pass {
    double kernels;
    double tile, width;  // microseconds
    double extra_tiles;  // what a block takes beside its tiles, as a fit to times on an H200 gave it
};

Pass forward(Rates const& rates) {
    return {1.0, rates.neighborhood_forward_tile, rates.neighborhood_forward_width, 4.0};
}

// One kernel for the gradients of queries, one for those of keys and values.
Pass backward(Rates const& rates) {
    return {2.0, rates.neighborhood_backward_tile, rates.neighborhood_backward_width, 2.0};
}

bool is_fused(nodes::Node const& node) {
    return node.kind() == nodes::NodeKind::NeighborhoodForward || node.kind() == nodes::NodeKind::NeighborhoodBackward;
}

}  // namespace

std::optional<double> neighborhood_cost(nodes::GraphSpec const& graph, Rates const& rates, int multiprocessors) {
    if (graph.nodes.size() != 1 || !is_fused(graph.nodes.front())) return {};
    nodes::Node const& node = graph.nodes.front();
    auto const sizes = nodes::neighborhood_sizes(graph, node);
    if (sizes->space.size() != 1 || !core::is_half(graph.tensor(node, nodes::leading_port(node))->data_type)) return {};
    auto const axis = core::axes_of(*nodes::neighborhood_fields(node), sizes->space).front();
    auto const group = static_cast<double>((axis.length + axis.dilation - 1) / axis.dilation);
    double const groups =
        static_cast<double>(sizes->batches) * static_cast<double>(sizes->heads) * static_cast<double>(axis.dilation);
    double const rounds = std::ceil(groups * tiles(group) / multiprocessors);
    double const seen = std::min(group, kTile - 1.0 + static_cast<double>(axis.kernel));
    Pass const pass = node.kind() == nodes::NodeKind::NeighborhoodForward ? forward(rates) : backward(rates);
    double const tile = pass.tile + pass.width * static_cast<double>(sizes->width);
    double const by_tiles = rounds * (pass.extra_tiles + tiles(seen)) * tile;
    return pass.kernels * rates.start + (fits_tiles(sizes->width) ? 1.0 : kByTokens) * by_tiles;
}

}  // namespace cudnn_frontend::cudnn
