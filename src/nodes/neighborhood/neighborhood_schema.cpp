#include "nodes/neighborhood/neighborhood_schema.h"

#include "nodes/attention/attention_schema.h"

#include <algorithm>

namespace cudnn_frontend::nodes {

using namespace neighborhood;

static bool are_positive(core::Dims const& sizes) {
    return std::ranges::all_of(sizes, [](std::int64_t size) { return size >= 1; });
}

bool has_heads_last(Node const& node) {
    return node.kind() == NodeKind::NeighborhoodForward || node.kind() == NodeKind::NeighborhoodBackward;
}

int leading_port(Node const& node) {
    bool const has_queries = node.kind() != NodeKind::NeighborhoodAv && node.kind() != NodeKind::NeighborhoodAvBackward;
    return has_queries ? Q : V;
}

std::optional<NeighborhoodSizes> neighborhood_sizes(GraphSpec const& graph, Node const& node) {
    TensorSpec const* const tensor = graph.tensor(node, leading_port(node));
    if (tensor == nullptr || tensor->dim.size() < 4 || tensor->dim.size() > 3 + kMostAxes) return {};
    if (!are_positive(tensor->dim)) return {};
    core::Dims const& dim = tensor->dim;
    std::size_t const head_dim = has_heads_last(node) ? dim.size() - 2 : 1;
    core::Dims space(dim.begin() + 1, dim.end() - 1);
    space.erase(space.begin() + static_cast<std::ptrdiff_t>(head_dim) - 1);
    return NeighborhoodSizes{dim.front(), dim[head_dim], dim.back(), std::move(space)};
}

// Tokens, or what each has in place of its vector: with a width of 0, nothing.
static core::Dims token_dims(NeighborhoodSizes const& sizes, bool heads_last, std::int64_t width) {
    core::Dims dim = sizes.space;
    dim.insert(heads_last ? dim.end() : dim.begin(), sizes.heads);
    dim.insert(dim.begin(), sizes.batches);
    if (width > 0) dim.push_back(width);
    return dim;
}

static core::Dims slot_dims(NeighborhoodSizes const& sizes, NeighborhoodFields const& fields) {
    return token_dims(sizes, false, core::window_size(fields).value_or(0));
}

static core::Dims bias_dims(NeighborhoodSizes const& sizes, NeighborhoodFields const& fields) {
    core::Dims dim{sizes.heads};
    for (std::int64_t const kernel : fields.kernel_size) dim.push_back(2 * kernel - 1);
    return dim;
}

// Larger kernels than the space are another rule's business, but their dims must not overflow.
static bool has_usable_kernel(NeighborhoodSizes const& sizes, NeighborhoodFields const& fields) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    return fields.kernel_size.size() == sizes.space.size() && are_positive(fields.kernel_size) &&
           core::window_size(fields).value_or(kMost) < kMost;
}

core::Dims neighborhood_dims(GraphSpec const& graph, Node const& node, int port) {
    auto const sizes = neighborhood_sizes(graph, node);
    if (!sizes) return {};
    NeighborhoodFields const& fields = *neighborhood_fields(node);
    bool const is_by_kernel = port == Attn || port == dAttn || port == Rel_pos_bias || port == dRel_pos_bias;
    if (is_by_kernel && !has_usable_kernel(*sizes, fields)) return {};
    switch (port) {
        case Attn:
        case dAttn: return slot_dims(*sizes, fields);
        case Rel_pos_bias:
        case dRel_pos_bias: return bias_dims(*sizes, fields);
        case Stats: return token_dims(*sizes, true, 0);
        default: return token_dims(*sizes, has_heads_last(node), sizes->width);
    }
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
