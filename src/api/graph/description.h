// A graph as its user described it, read in place: no copy is needed to find out whether it is known.
#pragma once

#include "api/graph/graph_impl.h"

#include <cstddef>
#include <vector>

namespace cudnn_frontend::api {

// The tensors of the graph must not change meanwhile: make and use the description with their mutex held.
class Description {
   public:
    // Throws the exception that a builder call kept.
    explicit Description(graph::Graph::Impl const& graph);

    // The tensor of each TensorId. First come those of the graph, then the others, which are few: those of its nodes'
    // ports and the offsets of ragged ones.
    std::vector<graph::Tensor_attributes*> const& tensors() const { return tensors_; }

    // A quick hash for finding a graph again. It is not the canonical key.
    std::size_t hash() const;
    // Exact, names included.
    bool is(nodes::GraphSpec const& spec) const;
    nodes::GraphSpec copy() const;

   private:
    void add(graph::Tensor_ptr const& tensor);
    // The list's size where the tensor is not in it.
    std::size_t place_of(graph::Tensor_attributes const& tensor) const;
    nodes::TensorId id_of(graph::Tensor_ptr const& tensor) const;
    // Replaces the spec, reusing its memory.
    void describe(std::size_t id, nodes::TensorSpec& spec) const;
    bool is_node(nodes::Draft const& draft, nodes::Node const& node) const;

    graph::Graph::Impl const& graph_;
    std::vector<graph::Tensor_attributes*> tensors_;
};

}  // namespace cudnn_frontend::api
