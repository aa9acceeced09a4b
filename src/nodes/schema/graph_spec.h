// A graph as a value: tensors and nodes with dense ids, in the order in which the user made them.
#pragma once

#include "nodes/schema/node.h"

#include <cstddef>
#include <type_traits>
#include <vector>

namespace cudnn_frontend::nodes {

// A graph without its tensors and nodes.
struct GraphHead {
    std::string name;
    DataType_t io_data_type = DataType_t::NOT_SET;
    DataType_t intermediate_data_type = DataType_t::NOT_SET;
    DataType_t compute_data_type = DataType_t::NOT_SET;
    int missing_outputs = 0;  // how often output() got a null pointer; in no table of fields

    friend bool operator==(GraphHead const&, GraphHead const&) = default;
};

struct GraphSpec : GraphHead {
    std::vector<TensorSpec> tensors;
    std::vector<Node> nodes;

    // The tensor at a port, null where the port is not connected.
    TensorSpec const* tensor(Node const& node, int port) const {
        TensorId const id = node.ports[static_cast<std::size_t>(port)];
        return id == kNoTensor ? nullptr : &tensors[static_cast<std::size_t>(id)];
    }
    TensorSpec* tensor(Node const& node, int port) {
        return const_cast<TensorSpec*>(static_cast<GraphSpec const*>(this)->tensor(node, port));
    }

    friend bool operator==(GraphSpec const&, GraphSpec const&) = default;
};

// Walks all nodes of a list, those of a modifier right before the attention that owns them.
template <class NodeType>
class NodeIterator {
   public:
    using value_type = std::remove_const_t<NodeType>;
    using difference_type = std::ptrdiff_t;

    NodeIterator() = default;
    explicit NodeIterator(NodeType* node) : node_(node) {}

    NodeType& operator*() const { return step_ < node_->modifier.size() ? node_->modifier[step_] : *node_; }
    NodeType* operator->() const { return &**this; }
    NodeIterator& operator++() {
        if (step_++ < node_->modifier.size()) return *this;
        ++node_;
        step_ = 0;
        return *this;
    }
    NodeIterator operator++(int) {
        NodeIterator const before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(NodeIterator const&, NodeIterator const&) = default;

   private:
    NodeType* node_ = nullptr;
    std::size_t step_ = 0;  // within the modifier; the node itself comes last
};

template <class NodeType>
struct NodeRange {
    NodeType *first, *last;
    NodeIterator<NodeType> begin() const { return NodeIterator(first); }
    NodeIterator<NodeType> end() const { return NodeIterator(last); }
};

// All nodes of the graph, for loops that make no difference between its own and those of modifiers.
inline NodeRange<Node const> every_node(GraphSpec const& graph) {
    return {graph.nodes.data(), graph.nodes.data() + graph.nodes.size()};
}
inline NodeRange<Node> every_node(GraphSpec& graph) {
    return {graph.nodes.data(), graph.nodes.data() + graph.nodes.size()};
}

// Name, the three types: the fields of the graph itself.
std::span<Field const> graph_fields();

// The default data type of a tensor.
inline DataType_t default_type(GraphSpec const& graph, TensorSpec const& tensor) {
    return tensor.is_virtual ? graph.intermediate_data_type : graph.io_data_type;
}

}  // namespace cudnn_frontend::nodes
