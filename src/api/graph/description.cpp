#include "api/graph/description.h"

#include "api/attributes/tensor_access.h"
#include "nodes/schema/schema.h"

#include <algorithm>
#include <exception>

namespace cudnn_frontend::api {

using detail::Tensor_access;

Description::Description(graph::Graph::Impl const& graph) : graph_(graph) {
    if (graph.failure) std::rethrow_exception(graph.failure);
    tensors_.reserve(graph.tensors.size());
    for (graph::Tensor_ptr const& tensor : graph.tensors) tensors_.push_back(tensor.get());
    for (nodes::Draft const& draft : graph.nodes) {
        for (graph::Tensor_ptr const& tensor : draft.ports) add(tensor);
    }
    // Offsets are tensors too, which may have offsets: the list grows while it is walked.
    for (std::size_t i = 0; i < tensors_.size(); ++i) add(Tensor_access::ragged_offset(*tensors_[i]));
}

std::size_t Description::place_of(graph::Tensor_attributes const& tensor) const {
    std::size_t const place = Tensor_access::place_in_graph(tensor), own = graph_.tensors.size();
    if (place < own && tensors_[place] == &tensor) return place;
    auto const others = tensors_.begin() + static_cast<std::ptrdiff_t>(own);
    return static_cast<std::size_t>(std::find(others, tensors_.end(), &tensor) - tensors_.begin());
}

void Description::add(graph::Tensor_ptr const& tensor) {
    if (tensor && place_of(*tensor) == tensors_.size()) tensors_.push_back(tensor.get());
}

nodes::TensorId Description::id_of(graph::Tensor_ptr const& tensor) const {
    return tensor ? static_cast<nodes::TensorId>(place_of(*tensor)) : nodes::kNoTensor;
}

void Description::describe(std::size_t id, nodes::TensorSpec& spec) const {
    graph::Tensor_attributes const& tensor = *tensors_[id];
    Tensor_access::describe(tensor, spec);
    spec.ragged_offset = id_of(Tensor_access::ragged_offset(tensor));
    std::uint64_t const owner = Tensor_access::graph_id(tensor);
    spec.is_foreign = owner != 0 && owner != graph_.id;
}

std::size_t Description::hash() const {
    nodes::DescriptionHash hash(graph_);
    for (graph::Tensor_attributes const* const tensor : tensors_) {
        hash.add(Tensor_access::described_name(*tensor), Tensor_access::described_dim(*tensor));
    }
    return hash.get();
}

bool Description::is_node(nodes::Draft const& draft, nodes::Node const& node) const {
    if (static_cast<nodes::NodeBody const&>(draft) != node) return false;
    auto const is_connected = [](nodes::TensorId id) { return id != nodes::kNoTensor; };
    auto const past_last = node.ports.begin() + static_cast<std::ptrdiff_t>(draft.ports.size());
    return std::equal(draft.ports.begin(), draft.ports.end(), node.ports.begin(),
                      [&](graph::Tensor_ptr const& tensor, nodes::TensorId id) { return id_of(tensor) == id; }) &&
           std::none_of(past_last, node.ports.end(), is_connected);
}

bool Description::is(nodes::GraphSpec const& spec) const {
    bool const is_as_large = graph_.nodes.size() == spec.nodes.size() && tensors_.size() == spec.tensors.size();
    if (!is_as_large || static_cast<nodes::GraphHead const&>(graph_) != spec) return false;
    for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
        if (!is_node(graph_.nodes[i], spec.nodes[i])) return false;
    }
    nodes::TensorSpec tensor;
    for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
        describe(i, tensor);
        if (tensor != spec.tensors[i]) return false;
    }
    return true;
}

nodes::GraphSpec Description::copy() const {
    nodes::GraphSpec spec{graph_, {}, {}};
    spec.tensors.resize(tensors_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i) describe(i, spec.tensors[i]);
    for (nodes::Draft const& draft : graph_.nodes) {
        nodes::Node& node = spec.nodes.emplace_back(nodes::Node{{draft, {}}});
        node.ports.resize(static_cast<std::size_t>(nodes::schema_of(draft.kind()).port_count), nodes::kNoTensor);
        std::transform(draft.ports.begin(), draft.ports.end(), node.ports.begin(),
                       [&](graph::Tensor_ptr const& tensor) { return id_of(tensor); });
    }
    return spec;
}

}  // namespace cudnn_frontend::api
