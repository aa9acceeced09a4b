// What the expansion of a node works with: the graph under construction, the node, and its tensors as values.
#pragma once

#include "expand/user_tensors.h"

#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::expand {

class NodeScope {
   public:
    NodeScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node);

    nodes::Node const& node() const { return node_; }
    std::string const& name() const { return name_; }

    nodes::GraphSpec const& graph() const { return tensors_.graph(); }
    ir::ValueId port(int port, RaggedRows const& rows = {}) const {
        return tensors_.value(node_.ports[static_cast<std::size_t>(port)], rows);
    }
    bool is_connected(int port) const { return node_.ports[static_cast<std::size_t>(port)] != nodes::kNoTensor; }
    // A copy: the builder moves its values as it grows.
    ir::Value value(ir::ValueId id) const { return builder_.value(id); }

    ir::ValueId add(ir::Value value) { return builder_.add(std::move(value)); }
    void add(ir::Op op) { builder_.add(std::move(op)); }
    // Packed numbers that the graph itself holds.
    ir::ValueId add_table(std::string name, core::Dims dim, std::vector<double> table, DataType_t type);

    // What scores meet, with its one row repeated where engines compute graphs wrong in which they broadcast it
    // themselves: in backward a row of numbers, and everywhere a number for each batch entry; one for each head alone
    // is right. A stride of 0 says the same, but costs time.
    ir::ValueId repeat_row_if_needed(ir::ValueId id, std::int64_t rows, bool is_backward);

    // What floating-point operations of the node compute in.
    DataType_t compute_type() const { return compute_type_; }
    // What an operation with results of that type computes in: integers and predicates as such.
    DataType_t compute_type_for(DataType_t result) const;

    // The node as one operation, under its name.
    void add_node(ir::OpBody const& body) { builder_.add({name_, compute_type_, body}); }

   protected:
    ir::Builder& builder_;

   private:
    UserTensors& tensors_;
    nodes::Node const& node_;
    std::string name_;
    DataType_t compute_type_;
};

}  // namespace cudnn_frontend::expand
