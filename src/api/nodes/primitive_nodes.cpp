// Nodes of one primitive operation: their setters, and how a graph makes them.
#include "api/attributes/attributes_access.h"
#include "api/graph/graph_impl.h"
#include "nodes/schema/schema.h"

#include <cudnn_frontend/graph.h>

namespace cudnn_frontend {
namespace graph {

using detail::connect;
using detail::fields_of;
using detail::make_draft;
using nodes::MatmulFields;
using nodes::PointwiseFields;
using nodes::ReductionFields;

Pointwise_attributes::Pointwise_attributes() noexcept
    : Node_attributes(make_draft<PointwiseFields>(nodes::pointwise::PortCount)) {}

Pointwise_attributes& Pointwise_attributes::set_mode(PointwiseMode_t const mode) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).mode = mode; });
}
Pointwise_attributes& Pointwise_attributes::set_axis(std::int64_t const axis) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).axis = axis; });
}
Pointwise_attributes& Pointwise_attributes::set_relu_lower_clip(float const value) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).relu_lower_clip = value; });
}
Pointwise_attributes& Pointwise_attributes::set_relu_upper_clip(float const value) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).relu_upper_clip = value; });
}
Pointwise_attributes& Pointwise_attributes::set_relu_lower_clip_slope(float const value) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).relu_lower_clip_slope = value; });
}
Pointwise_attributes& Pointwise_attributes::set_swish_beta(float const value) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).swish_beta = value; });
}
Pointwise_attributes& Pointwise_attributes::set_elu_alpha(float const value) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).elu_alpha = value; });
}
Pointwise_attributes& Pointwise_attributes::set_softplus_beta(float const value) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<PointwiseFields>(draft).softplus_beta = value; });
}
PointwiseMode_t Pointwise_attributes::get_mode() const { return fields_of<PointwiseFields>(draft_).mode; }

template <class T>
static T const* pointer_to(std::optional<T> const& value) {
    return value ? &*value : nullptr;
}
std::int64_t const* Pointwise_attributes::axis() const { return pointer_to(fields_of<PointwiseFields>(draft_).axis); }
float const* Pointwise_attributes::swish_beta() const {
    auto const* const beta = pointer_to(fields_of<PointwiseFields>(draft_).swish_beta);
    return beta == nullptr ? nullptr : &beta->value;
}

Matmul_attributes::Matmul_attributes() noexcept : Node_attributes(make_draft<MatmulFields>(nodes::matmul::PortCount)) {}

Matmul_attributes& Matmul_attributes::set_m_override(detail::Tensor_ptr const& lengths) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, nodes::matmul::MOverride, lengths); });
}
Matmul_attributes& Matmul_attributes::set_n_override(detail::Tensor_ptr const& lengths) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, nodes::matmul::NOverride, lengths); });
}
Matmul_attributes& Matmul_attributes::set_k_override(detail::Tensor_ptr const& lengths) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, nodes::matmul::KOverride, lengths); });
}
Matmul_attributes& Matmul_attributes::set_padding(double const value) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<MatmulFields>(draft).padding_value = value; });
}

Reduction_attributes::Reduction_attributes() noexcept
    : Node_attributes(make_draft<ReductionFields>(nodes::reduction::PortCount)) {}

Reduction_attributes& Reduction_attributes::set_mode(ReductionMode_t const mode) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<ReductionFields>(draft).mode = mode; });
}
Reduction_attributes& Reduction_attributes::set_is_deterministic(bool const enabled) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<ReductionFields>(draft).is_deterministic = enabled; });
}
ReductionMode_t const* Reduction_attributes::mode() const {
    ReductionMode_t const& mode = fields_of<ReductionFields>(draft_).mode;
    return mode == ReductionMode_t::NOT_SET ? nullptr : &mode;
}
bool Reduction_attributes::get_is_deterministic() const { return fields_of<ReductionFields>(draft_).is_deterministic; }

// Adds a node with one result.
Tensor_ptr Graph::append_node(detail::Attributes const& attributes, std::initializer_list<Input> inputs,
                              int output) noexcept {
    return Impl::guarded(impl_, [&] {
        nodes::Draft node = detail::Attributes_access::take(attributes);
        for (Input const& input : inputs) connect(node, input.port, input.tensor);
        Tensor_ptr result = make_output(node, output, nodes::port_name(node.kind(), output), impl());
        impl().nodes.push_back(std::move(node));
        return result;
    });
}

Tensor_ptr Graph::pointwise(Tensor_ptr const& in_0, Pointwise_attributes const& attributes) noexcept {
    return pointwise(in_0, nullptr, nullptr, attributes);
}
Tensor_ptr Graph::pointwise(Tensor_ptr const& in_0, Tensor_ptr const& in_1,
                            Pointwise_attributes const& attributes) noexcept {
    return pointwise(in_0, in_1, nullptr, attributes);
}
Tensor_ptr Graph::pointwise(Tensor_ptr const& in_0, Tensor_ptr const& in_1, Tensor_ptr const& in_2,
                            Pointwise_attributes const& attributes) noexcept {
    using namespace nodes::pointwise;
    return append_node(attributes, {{In0, in_0}, {In1, in_1}, {In2, in_2}}, Out0);
}

Tensor_ptr Graph::matmul(Tensor_ptr const& a, Tensor_ptr const& b, Matmul_attributes const& attributes) noexcept {
    return append_node(attributes, {{nodes::matmul::A, a}, {nodes::matmul::B, b}}, nodes::matmul::C);
}

Tensor_ptr Graph::reduction(Tensor_ptr const& x, Reduction_attributes const& attributes) noexcept {
    return append_node(attributes, {{nodes::reduction::X, x}}, nodes::reduction::Y);
}

}  // namespace graph
}  // namespace cudnn_frontend
