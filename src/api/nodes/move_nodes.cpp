// Nodes that move elements and compute nothing: their setters, and how a graph makes them.
#include "api/attributes/attributes_access.h"
#include "api/graph/graph_impl.h"

#include <cudnn_frontend/graph.h>

namespace cudnn_frontend {
namespace graph {

using detail::fields_of;
using detail::make_draft;
using nodes::ReshapeFields;
using nodes::SliceFields;
using nodes::TransposeFields;

Slice_attributes::Slice_attributes() noexcept : Node_attributes(make_draft<SliceFields>(nodes::slice::PortCount)) {}

Slice_attributes& Slice_attributes::set_slices(
    std::vector<std::pair<std::int64_t, std::int64_t>> const& starts_and_limits) noexcept {
    return change([&](nodes::Draft& draft) {
        SliceFields& fields = fields_of<SliceFields>(draft);
        fields.start.clear();
        fields.limit.clear();
        for (auto const& [start, limit] : starts_and_limits) {
            fields.start.push_back(start);
            fields.limit.push_back(limit);
        }
    });
}
Slice_attributes& Slice_attributes::set_strides(std::vector<std::int64_t> const& steps) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<SliceFields>(draft).step = steps; });
}

Reshape_attributes::Reshape_attributes() noexcept
    : Node_attributes(make_draft<ReshapeFields>(nodes::reshape::PortCount)) {}

Reshape_attributes& Reshape_attributes::set_dim(std::vector<std::int64_t> const& dim) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<ReshapeFields>(draft).dim = dim; });
}
Reshape_attributes& Reshape_attributes::set_stride(std::vector<std::int64_t> const& stride) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<ReshapeFields>(draft).stride = stride; });
}
Reshape_attributes& Reshape_attributes::set_reshape_mode(ReshapeMode_t const mode) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<ReshapeFields>(draft).mode = mode; });
}
std::vector<std::int64_t> Reshape_attributes::get_dim() const { return fields_of<ReshapeFields>(draft_).dim; }
std::vector<std::int64_t> Reshape_attributes::get_stride() const { return fields_of<ReshapeFields>(draft_).stride; }
ReshapeMode_t Reshape_attributes::get_reshape_mode() const { return fields_of<ReshapeFields>(draft_).mode; }

Transpose_attributes::Transpose_attributes() noexcept
    : Node_attributes(make_draft<TransposeFields>(nodes::transpose::PortCount)) {}

Transpose_attributes& Transpose_attributes::set_permutation(std::vector<std::int64_t> const& permutation) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<TransposeFields>(draft).permutation = permutation; });
}
std::vector<std::int64_t> Transpose_attributes::get_permutation() const {
    return fields_of<TransposeFields>(draft_).permutation;
}

Tensor_ptr Graph::slice(Tensor_ptr const& x, Slice_attributes const& attributes) noexcept {
    return append_node(attributes, {{nodes::slice::X, x}}, nodes::slice::Y);
}

Tensor_ptr Graph::reshape(Tensor_ptr const& x, Reshape_attributes const& attributes) noexcept {
    return append_node(attributes, {{nodes::reshape::X, x}}, nodes::reshape::Y);
}

Tensor_ptr Graph::transpose(Tensor_ptr const& x, Transpose_attributes const& attributes) noexcept {
    return append_node(attributes, {{nodes::transpose::X, x}}, nodes::transpose::Y);
}

}  // namespace graph
}  // namespace cudnn_frontend
