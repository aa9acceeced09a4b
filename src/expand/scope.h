// The tools of a node's expansion: the graph under construction, the node, and its tensors as values.
#pragma once

#include "ir/builder.h"
#include "nodes/schema/graph_spec.h"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::expand {

// The rows of a ragged tensor, as in ir::Ragged.
struct RaggedRows {
    ir::ValueId lengths = ir::kNoValue;
    std::int64_t together = 1;
    std::int64_t most = 0;
};

// A tensor becomes a value when an operation first asks for it: a tensor that no operation touches needs no pointer at
// run time.
class UserTensors {
   public:
    UserTensors(nodes::GraphSpec const& spec, ir::Builder& builder);

    nodes::GraphSpec const& graph() const { return spec_; }

    // The value of a tensor, kNoValue where there is none. That of a ragged tensor has these rows.
    ir::ValueId value(nodes::TensorId id, RaggedRows const& rows = {});

   private:
    ir::Role role_of(nodes::TensorId id) const;
    std::string name_of(nodes::TensorId id) const;

    nodes::GraphSpec const& spec_;
    ir::Builder& builder_;
    std::vector<ir::ValueId> values_;
    std::vector<nodes::Node const*> producers_;  // the node that makes each tensor, or null
    std::vector<bool> are_factors_;              // of 8-bit attention
};

class NodeScope {
   public:
    NodeScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node);

    nodes::Node const& node() const { return node_; }
    std::string const& name() const { return name_; }

    nodes::GraphSpec const& graph() const { return tensors_.graph(); }
    ir::ValueId port(int port, RaggedRows const& rows = {}) const {
        return tensors_.value(node_.ports[static_cast<std::size_t>(port)], rows);
    }
    // The value of any tensor of the graph.
    ir::ValueId value_of(nodes::TensorId id) { return tensors_.value(id); }
    bool is_connected(int port) const { return node_.ports[static_cast<std::size_t>(port)] != nodes::kNoTensor; }
    // A copy: the builder moves its values as it grows.
    ir::Value value(ir::ValueId id) const { return builder_.value(id); }

    ir::ValueId add(ir::Value value) { return builder_.add(std::move(value)); }
    void add(ir::Op op) { builder_.add(std::move(op)); }

    // The compute type of the node's floating-point operations.
    DataType_t compute_type() const { return compute_type_; }
    // The compute type of an operation with results of that type: integers and predicates are computed as such.
    DataType_t compute_type_for(DataType_t result) const;

    // The node as one operation, under its name.
    void add_node(ir::OpBody const& body) { builder_.add({name_, compute_type_, body}); }

    // New values, named <node>::<name>: virtual and packed, or one number.
    ir::ValueId add_virtual(std::string const& name, core::Dims dim, DataType_t type);
    ir::ValueId add_virtual(std::string const& name, core::Dims dim, core::Dims stride, DataType_t type);
    ir::ValueId add_number(std::string const& name, double number);
    ir::ValueId add_integer(std::string const& name, std::int64_t integer);
    // Packed numbers that the graph itself holds.
    ir::ValueId add_table(std::string const& name, core::Dims dim, std::vector<double> table,
                          DataType_t type = DataType_t::FLOAT);
    // The lengths whose sums these are.
    ir::ValueId add_steps(ir::ValueId sums);
    ir::ValueId transposed(ir::ValueId matrices) { return builder_.transposed(matrices, 2, 3); }

    // Operations, named after their result, which they return. Integers and predicates are computed as such.
    ir::ValueId pointwise(PointwiseMode_t mode, std::initializer_list<ir::ValueId> in, ir::ValueId out);
    // An operation whose operands say which pairs are masked or dropped.
    ir::ValueId masked(PointwiseMode_t mode, std::initializer_list<ir::ValueId> in, ir::ValueId out, ir::MaskedBy by);
    ir::ValueId index(ir::ValueId shape, std::int64_t axis, ir::ValueId out);
    ir::ValueId matmul(ir::MatmulOp const& op);
    ir::ValueId reduce(ReductionMode_t mode, ir::ValueId x, ir::ValueId y, bool is_deterministic = false);
    ir::ValueId reduce(ir::ReductionOp const& op);
    ir::ValueId random(ir::RngOp const& op);
    ir::ValueId load_pages(ir::PagedLoadOp const& op);
    ir::ValueId block_mask(ir::BlockMaskOp const& op);
    ir::ValueId dequantize(ir::BlockDequantizeOp const& op);
    ir::ValueId quantize(ir::BlockQuantizeOp const& op);
    ir::ValueId reshape(ir::ValueId x, ir::ValueId y);
    ir::ValueId transpose(ir::ValueId x, core::Dims const& permutation, ir::ValueId y);
    ir::ValueId window_product(ir::WindowProductOp const& op);
    ir::ValueId window_bias(ir::WindowBiasOp const& op);
    ir::ValueId window_bias_sum(ir::WindowBiasSumOp const& op);

   protected:
    // Adds the value, packed where it has no strides.
    ir::ValueId add_value(ir::Value value);
    ir::ValueId emit(ir::OpBody const& body, ir::ValueId out);
    std::string path(std::string const& step) const { return name() + "::" + step; }

    ir::Builder& builder_;

   private:
    std::string name_of_op(std::string const& result) const;

    UserTensors& tensors_;
    nodes::Node const& node_;
    std::string name_;
    DataType_t compute_type_;
};

}  // namespace cudnn_frontend::expand
