// Between the user's objects and values: the snapshot that stages work on, and back.
#include "api/attributes_access.h"
#include "api/graph_impl.h"
#include "api/tensor_access.h"
#include "nodes/schema/schema.h"

#include <unordered_map>

namespace cudnn_frontend {
namespace {

// Gives each tensor its id, in the order in which the tensors are met.
class Collector {
   public:
    Collector(graph::Snapshot& snapshot, std::uint64_t graph_id) : snapshot_(snapshot), graph_id_(graph_id) {}

    nodes::TensorId id_of(graph::Tensor_ptr const& tensor) {
        if (!tensor) return nodes::kNoTensor;
        auto const next = static_cast<nodes::TensorId>(snapshot_.tensors.size());
        auto const [entry, is_new] = ids_.emplace(tensor.get(), next);
        if (is_new) add(tensor);
        return entry->second;
    }

    // Offsets are tensors too, which may have offsets: the list grows while it is walked.
    void resolve_ragged_offsets() {
        for (std::size_t i = 0; i < snapshot_.tensors.size(); ++i) {
            graph::Tensor_ptr const offset = detail::Tensor_access::ragged_offset(*snapshot_.tensors[i]);
            nodes::TensorId const id = id_of(offset);
            snapshot_.spec.tensors[i].ragged_offset = id;
        }
    }

   private:
    void add(graph::Tensor_ptr const& tensor) {
        snapshot_.tensors.push_back(tensor);
        snapshot_.spec.tensors.push_back(detail::Tensor_access::describe(*tensor));
        std::uint64_t const owner = detail::Tensor_access::graph_id(*tensor);
        std::size_t const index = snapshot_.spec.tensors.size() - 1;
        snapshot_.spec.tensors[index].is_foreign = owner != 0 && owner != graph_id_;
    }

    graph::Snapshot& snapshot_;
    std::uint64_t graph_id_;
    std::unordered_map<graph::Tensor_attributes const*, nodes::TensorId> ids_;
};

}  // namespace

namespace detail {

graph::Snapshot Graph_access::snapshot(graph::Graph const& graph) {
    graph::Snapshot snapshot;
    if (!graph.impl_) return snapshot;
    graph::Graph::Impl const& impl = *graph.impl_;
    if (impl.failure) std::rethrow_exception(impl.failure);
    std::lock_guard const lock(*impl.tensors_mutex);
    nodes::GraphSpec& spec = snapshot.spec;
    spec.name = impl.name;
    spec.io_data_type = impl.io_data_type;
    spec.intermediate_data_type = impl.intermediate_data_type;
    spec.compute_data_type = impl.compute_data_type;
    Collector collector(snapshot, impl.id);
    for (graph::Tensor_ptr const& tensor : impl.tensors) collector.id_of(tensor);
    for (nodes::Draft const& draft : impl.nodes) {
        nodes::Node node{draft.name, draft.compute_data_type, draft.fields, {}, draft.modifier_faults};
        for (graph::Tensor_ptr const& tensor : draft.ports) node.ports.push_back(collector.id_of(tensor));
        spec.nodes.push_back(std::move(node));
    }
    collector.resolve_ragged_offsets();
    return snapshot;
}

void Graph_access::fill_inferred(graph::Graph const& graph, graph::Snapshot const& snapshot,
                                 nodes::GraphSpec const& inferred) {
    if (!graph.impl_) return;
    std::lock_guard const lock(*graph.impl_->tensors_mutex);
    for (std::size_t i = 0; i < snapshot.tensors.size(); ++i) {
        Tensor_access::fill_inferred(*snapshot.tensors[i], inferred.tensors[i]);
    }
}

bool Graph_access::copy_of_uid(graph::Graph const& graph, std::int64_t uid, graph::Tensor_attributes& copy) {
    graph::Snapshot const all = snapshot(graph);
    if (!graph.impl_) return false;
    std::lock_guard const lock(*graph.impl_->tensors_mutex);
    for (graph::Tensor_ptr const& tensor : all.tensors) {
        if (!tensor->has_uid() || tensor->get_uid() != uid) continue;
        Tensor_access::copy(*tensor, copy);
        return true;
    }
    return false;
}

void Graph_access::assign(graph::Graph& graph, nodes::GraphSpec const& spec) {
    auto impl = std::make_unique<graph::Graph::Impl>();
    impl->name = spec.name;
    impl->io_data_type = spec.io_data_type;
    impl->intermediate_data_type = spec.intermediate_data_type;
    impl->compute_data_type = spec.compute_data_type;
    for (nodes::TensorSpec const& tensor : spec.tensors) {
        impl->tensors.push_back(std::make_shared<graph::Tensor_attributes>(Tensor_access::make(tensor)));
        Tensor_access::set_graph_id(*impl->tensors.back(), impl->id);
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
