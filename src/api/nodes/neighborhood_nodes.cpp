// Neighborhood attention: the setters of its nodes, and how a graph makes them.
#include "api/attributes/attributes_access.h"
#include "api/graph/graph_impl.h"
#include "nodes/schema/schema.h"

#include <cudnn_frontend/graph.h>

namespace cudnn_frontend {

using detail::connect;
using detail::fields_of;
using detail::make_draft;
using nodes::NeighborhoodBackwardFields;
using nodes::NeighborhoodForwardFields;
namespace port = nodes::neighborhood;

namespace detail {

// The part of all functions' fields that they share.
static nodes::NeighborhoodFields& window_of(nodes::Draft& draft) {
    return const_cast<nodes::NeighborhoodFields&>(*nodes::neighborhood_fields(draft));
}

template <class Derived>
Derived& Neighborhood_window_attributes<Derived>::set_kernel_size(std::vector<std::int64_t> const& sizes) noexcept {
    return this->change([&](nodes::Draft& draft) { window_of(draft).kernel_size = sizes; });
}
template <class Derived>
Derived& Neighborhood_window_attributes<Derived>::set_dilation(std::vector<std::int64_t> const& distances) noexcept {
    return this->change([&](nodes::Draft& draft) { window_of(draft).dilation = distances; });
}
template <class Derived>
Derived& Neighborhood_window_attributes<Derived>::set_is_causal(std::vector<bool> const& axes) noexcept {
    return this->change([&](nodes::Draft& draft) { window_of(draft).is_causal = axes; });
}

}  // namespace detail

template class detail::Neighborhood_window_attributes<graph::Neighborhood_attributes>;
template class detail::Neighborhood_window_attributes<graph::Neighborhood_backward_attributes>;
template class detail::Neighborhood_window_attributes<graph::Neighborhood_qk_attributes>;
template class detail::Neighborhood_window_attributes<graph::Neighborhood_qk_backward_attributes>;
template class detail::Neighborhood_window_attributes<graph::Neighborhood_av_attributes>;
template class detail::Neighborhood_window_attributes<graph::Neighborhood_av_backward_attributes>;

namespace graph {

Neighborhood_attributes::Neighborhood_attributes() noexcept
    : Neighborhood_window_attributes(make_draft<NeighborhoodForwardFields>(port::PortCount)) {}

Neighborhood_attributes& Neighborhood_attributes::set_attn_scale(float const scale) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<NeighborhoodForwardFields>(draft).attn_scale = scale; });
}
Neighborhood_attributes& Neighborhood_attributes::set_rel_pos_bias(Tensor_ptr const& bias) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::RelPosBias, bias); });
}
Neighborhood_attributes& Neighborhood_attributes::set_generate_stats(bool const enabled) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<NeighborhoodForwardFields>(draft).generate_stats = enabled; });
}

Neighborhood_backward_attributes::Neighborhood_backward_attributes() noexcept
    : Neighborhood_window_attributes(make_draft<NeighborhoodBackwardFields>(port::PortCount)) {}

Neighborhood_backward_attributes& Neighborhood_backward_attributes::set_attn_scale(float const scale) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<NeighborhoodBackwardFields>(draft).attn_scale = scale; });
}
Neighborhood_backward_attributes& Neighborhood_backward_attributes::set_rel_pos_bias(Tensor_ptr const& bias) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::RelPosBias, bias); });
}
Neighborhood_backward_attributes& Neighborhood_backward_attributes::set_drel_pos_bias(
    Tensor_ptr const& gradient) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::DRelPosBias, gradient); });
}

Neighborhood_qk_attributes::Neighborhood_qk_attributes() noexcept
    : Neighborhood_window_attributes(make_draft<nodes::NeighborhoodQkFields>(port::PortCount)) {}

Neighborhood_qk_attributes& Neighborhood_qk_attributes::set_rel_pos_bias(Tensor_ptr const& bias) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::RelPosBias, bias); });
}

Neighborhood_qk_backward_attributes::Neighborhood_qk_backward_attributes() noexcept
    : Neighborhood_window_attributes(make_draft<nodes::NeighborhoodQkBackwardFields>(port::PortCount)) {}

Neighborhood_qk_backward_attributes& Neighborhood_qk_backward_attributes::set_drel_pos_bias(
    Tensor_ptr const& gradient) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::DRelPosBias, gradient); });
}

Neighborhood_av_attributes::Neighborhood_av_attributes() noexcept
    : Neighborhood_window_attributes(make_draft<nodes::NeighborhoodAvFields>(port::PortCount)) {}

Neighborhood_av_backward_attributes::Neighborhood_av_backward_attributes() noexcept
    : Neighborhood_window_attributes(make_draft<nodes::NeighborhoodAvBackwardFields>(port::PortCount)) {}

// Adds the node and makes its results, those at the ports.
template <std::size_t count>
static std::array<Tensor_ptr, count> add_node(Graph::Impl& impl, nodes::Draft node, int const (&ports)[count]) {
    std::array<Tensor_ptr, count> results;
    for (std::size_t i = 0; i < count; ++i) {
        results[i] = make_output(node, ports[i], nodes::port_name(node.kind(), ports[i]), impl);
    }
    impl.nodes.push_back(std::move(node));
    return results;
}

std::array<Tensor_ptr, 2> Graph::neighborhood_attention(Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v,
                                                        Neighborhood_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&]() -> std::array<Tensor_ptr, 2> {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect(node, port::Q, q);
        connect(node, port::K, k);
        connect(node, port::V, v);
        if (std::get<NeighborhoodForwardFields>(node.fields).generate_stats) {
            return add_node(impl(), std::move(node), {port::O, port::Stats});
        }
        return {add_node(impl(), std::move(node), {port::O})[0], nullptr};
    });
}

std::array<Tensor_ptr, 3> Graph::neighborhood_attention_backward(
    Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v, Tensor_ptr const& o, Tensor_ptr const& dO,
    Tensor_ptr const& stats, Neighborhood_backward_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect(node, port::Q, q);
        connect(node, port::K, k);
        connect(node, port::V, v);
        connect(node, port::O, o);
        connect(node, port::DO, dO);
        connect(node, port::Stats, stats);
        return add_node(impl(), std::move(node), {port::DQ, port::DK, port::DV});
    });
}

Tensor_ptr Graph::neighborhood_qk(Tensor_ptr const& q, Tensor_ptr const& k,
                                  Neighborhood_qk_attributes const& attributes) noexcept {
    return append_node(attributes, {{port::Q, q}, {port::K, k}}, port::Attn);
}

Tensor_ptr Graph::neighborhood_av(Tensor_ptr const& attn, Tensor_ptr const& v,
                                  Neighborhood_av_attributes const& attributes) noexcept {
    return append_node(attributes, {{port::Attn, attn}, {port::V, v}}, port::O);
}

std::array<Tensor_ptr, 2> Graph::neighborhood_qk_backward(
    Tensor_ptr const& dAttn, Tensor_ptr const& q, Tensor_ptr const& k,
    Neighborhood_qk_backward_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect(node, port::DAttn, dAttn);
        connect(node, port::Q, q);
        connect(node, port::K, k);
        return add_node(impl(), std::move(node), {port::DQ, port::DK});
    });
}

std::array<Tensor_ptr, 2> Graph::neighborhood_av_backward(
    Tensor_ptr const& dO, Tensor_ptr const& attn, Tensor_ptr const& v,
    Neighborhood_av_backward_attributes const& attributes) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        connect(node, port::DO, dO);
        connect(node, port::Attn, attn);
        connect(node, port::V, v);
        return add_node(impl(), std::move(node), {port::DAttn, port::DV});
    });
}

}  // namespace graph
}  // namespace cudnn_frontend
