// The snapshot of the user's objects as values, which stages work on, and the way back.
#include "api/attributes/tensor_access.h"
#include "api/graph/description.h"
#include "nodes/validation/modifiers.h"

namespace cudnn_frontend {
namespace detail {

graph::Snapshot Graph_access::snapshot(graph::Graph const& graph) {
    if (!graph.impl_) return {};
    std::lock_guard const lock(*graph.impl_->tensors_mutex);
    return {api::Description(*graph.impl_).copy()};
}

bool Graph_access::copy_of_uid(graph::Graph const& graph, std::int64_t uid, graph::Tensor_attributes& copy) {
    if (!graph.impl_) return false;
    std::lock_guard const lock(*graph.impl_->tensors_mutex);
    api::Description const described(*graph.impl_);
    for (graph::Tensor_attributes const* const tensor : described.tensors()) {
        if (!tensor->has_uid() || tensor->get_uid() != uid) continue;
        Tensor_access::copy(*tensor, copy);
        return true;
    }
    return false;
}

void Graph_access::assign(graph::Graph& graph, nodes::GraphSpec spec) {
    nodes::flatten_modifiers(spec);
    auto impl = std::make_unique<graph::Graph::Impl>();
    static_cast<nodes::GraphHead&>(*impl) = spec;
    for (nodes::TensorSpec const& tensor : spec.tensors) {
        impl->own(std::make_shared<graph::Tensor_attributes>(Tensor_access::make(tensor)));
    }
    auto const tensor_at = [&](nodes::TensorId id) {
        return id == nodes::kNoTensor ? nullptr : impl->tensors[static_cast<std::size_t>(id)];
    };
    for (std::size_t i = 0; i < spec.tensors.size(); ++i) {
        impl->tensors[i]->set_ragged_offset(tensor_at(spec.tensors[i].ragged_offset));
    }
    for (nodes::Node const& node : spec.nodes) {
        nodes::Draft draft;
        draft.name = node.name;
        draft.compute_data_type = node.compute_data_type;
        draft.fields = node.fields;
        for (nodes::TensorId const id : node.ports) draft.ports.push_back(tensor_at(id));
        impl->nodes.push_back(std::move(draft));
    }
    delete std::exchange(graph.impl_, impl.release());
}

void Graph_access::refuse_modifier(graph::Graph& graph, std::string found, std::string needed) {
    if (graph.impl_) graph.impl_->modifier_faults.push_back({0, std::move(found), std::move(needed)});
}

bool Graph_access::owns(graph::Graph const& graph, graph::Tensor_attributes const& tensor) {
    return graph.impl_ && Tensor_access::graph_id(tensor) == graph.impl_->id;
}

}  // namespace detail
}  // namespace cudnn_frontend
