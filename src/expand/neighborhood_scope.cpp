#include "expand/neighborhood_scope.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace cudnn_frontend::expand {

namespace port = nodes::neighborhood;

NeighborhoodScope::NeighborhoodScope(NodeScope const& at)
    : NodeScope(at), sizes_(*nodes::neighborhood_sizes(graph(), node())) {}

double NeighborhoodScope::scale() const {
    std::optional<core::Exact<float>> given;
    if (auto const* forward = std::get_if<nodes::NeighborhoodForwardFields>(&node().fields))
        given = forward->attn_scale;
    if (auto const* backward = std::get_if<nodes::NeighborhoodBackwardFields>(&node().fields))
        given = backward->attn_scale;
    return given ? double{*given} : 1.0 / std::sqrt(static_cast<double>(sizes_.width));
}

core::Dims NeighborhoodScope::rows(std::int64_t columns) const {
    core::Dims dim{sizes_.batches, sizes_.heads};
    dim.insert(dim.end(), sizes_.space.begin(), sizes_.space.end());
    dim.push_back(columns);
    return dim;
}

// The order in which batch, heads and space become batch, space and heads, for tensors of that many dims.
static core::Dims to_heads_last(std::size_t rank, std::size_t axes) {
    core::Dims order(rank);
    std::iota(order.begin(), order.end(), 0);
    auto const heads = order.begin() + 1;
    std::rotate(heads, heads + 1, heads + 1 + static_cast<std::ptrdiff_t>(axes));
    return order;
}

static core::Dims to_heads_first(std::size_t rank, std::size_t axes) {
    core::Dims order(rank);
    std::iota(order.begin(), order.end(), 0);
    auto const space = order.begin() + 1, heads = space + static_cast<std::ptrdiff_t>(axes);
    std::rotate(space, heads, heads + 1);
    return order;
}

ValueId NeighborhoodScope::tokens(int port, std::string const& name) {
    ValueId const tensor = this->port(port);
    if (!has_heads_last()) return tensor;
    std::size_t const axes = sizes_.space.size();
    return transpose(tensor, to_heads_first(axes + 3, axes), add_tokens(name));
}

ValueId NeighborhoodScope::result(int port, std::string const& name) {
    return has_heads_last() ? add_tokens(name) : this->port(port);
}

void NeighborhoodScope::store(ValueId result, int port) {
    std::size_t const axes = sizes_.space.size();
    if (has_heads_last()) transpose(result, to_heads_last(axes + 3, axes), this->port(port));
}

ValueId NeighborhoodScope::stats() {
    std::size_t const axes = sizes_.space.size();
    core::Dims dim = rows(1);
    dim.pop_back();
    ValueId const numbers = transpose(port(port::Stats), to_heads_first(axes + 2, axes),
                                      add_virtual("stats_of_heads", std::move(dim), DataType_t::FLOAT));
    return reshape(numbers, add_numbers("stats"));
}

void NeighborhoodScope::store_stats(ValueId numbers) {
    std::size_t const axes = sizes_.space.size();
    core::Dims dim = rows(1);
    dim.pop_back();
    ValueId const of_heads = reshape(numbers, add_virtual("stats_of_heads", std::move(dim), DataType_t::FLOAT));
    transpose(of_heads, to_heads_last(axes + 2, axes), port(port::Stats));
}

ValueId NeighborhoodScope::multiply(ValueId queries, ValueId keys, double without_key, ValueId slots) {
    return window_product({options(), ir::WindowPart::Slots, queries, keys, slots, without_key});
}

ValueId NeighborhoodScope::weigh_keys(ValueId slots, ValueId keys, ValueId y) {
    return window_product({options(), ir::WindowPart::Queries, slots, keys, y});
}

ValueId NeighborhoodScope::weigh_queries(ValueId slots, ValueId queries, ValueId y) {
    return window_product({options(), ir::WindowPart::Keys, slots, queries, y});
}

ValueId NeighborhoodScope::bias() {
    core::Dims dim = slot_dims();
    dim.front() = 1;
    return window_bias({options(), port(port::RelPosBias), add_virtual("bias", std::move(dim), DataType_t::FLOAT)});
}

void NeighborhoodScope::sum_bias_gradient(ValueId slots) {
    if (is_connected(port::DRelPosBias)) window_bias_sum({options(), slots, port(port::DRelPosBias)});
}

}  // namespace cudnn_frontend::expand
