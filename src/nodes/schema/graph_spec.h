// A graph as a value: tensors and nodes with dense ids, in the order in which the user made them.
#pragma once

#include "nodes/schema/node.h"

#include <cstddef>
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

// Name, the three types: the fields of the graph itself.
std::span<Field const> graph_fields();

// The default data type of a tensor.
inline DataType_t default_type(GraphSpec const& graph, TensorSpec const& tensor) {
    return tensor.is_virtual ? graph.intermediate_data_type : graph.io_data_type;
}

}  // namespace cudnn_frontend::nodes
