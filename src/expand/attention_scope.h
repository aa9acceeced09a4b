// The scope of an attention node: its sizes, its options, and values of its own shapes.
#pragma once

#include "expand/expand.h"
#include "expand/modifier_nodes.h"
#include "expand/scope.h"
#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::expand {

using nodes::attention::Port;

// Comments on it write b for a batch entry, h for a query head, i for a query, j for a key and d for an element of a
// head.
class AttentionScope : public NodeScope {
   public:
    AttentionScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node,
                   TargetAbilities const& capabilities, InterleavedNodes& modifier);

    TargetAbilities const& capabilities() const { return capabilities_; }
    ir::ValueId port(int port) const;
    nodes::AttentionFields const& fields() const { return *nodes::attention_fields(node()); }
    core::Dims const& score_dim() const { return score_dim_; }  // {B, Hq, Sq, Skv}
    std::int64_t queries() const { return score_dim_[2]; }
    std::int64_t keys() const { return score_dim_[3]; }
    bool is_fp8() const { return nodes::is_fp8(node()); }
    // 8-bit with a factor for each tensor, by which operations multiply; block scales come with the operands.
    bool has_factors() const { return is_fp8() && !is_block_scaled(); }
    bool is_block_scaled() const { return nodes::is_block_scaled(node()); }
    bool is_backward() const { return node().kind() == nodes::NodeKind::SdpaBackward; }
    DataType_t io_type() const { return value(port(Port::Q)).type; }

    // Lengths of the batch entries; no value without a padding mask.
    ir::ValueId seq_len_q() const { return seq_len_q_; }
    ir::ValueId seq_len_kv() const { return seq_len_kv_; }
    bool has_lengths() const { return seq_len_q_ != ir::kNoValue; }

    // Whether a generator drops probabilities; a chance of 0 needs no operation.
    bool generates_dropout() const { return fields().dropout_probability.value_or(0.0f) > 0.0f; }
    // Whether the user's mask drops them.
    bool applies_dropout_mask() const { return !fields().dropout_probability && is_connected(Port::DropoutMask); }
    double keep_probability() const { return 1.0 - double{fields().dropout_probability.value_or(0.0f)}; }

    // New values, named as all of the node's.
    ir::ValueId add_score(std::string const& name, DataType_t type = DataType_t::FLOAT);  // {B, Hq, Sq, Skv}
    ir::ValueId add_index(std::string const& name) { return add_score(name, DataType_t::INT32); }
    ir::ValueId add_predicate(std::string const& name) { return add_score(name, DataType_t::BOOLEAN); }
    ir::ValueId add_row(std::string const& name);  // {B, Hq, Sq, 1}
    // The user's tensor of such rows, or a new value.
    ir::ValueId row_result(int port, std::string const& name) {
        return is_connected(port) ? this->port(port) : add_row(name);
    }
    // The same, or the tensor that shows it to a modifier.
    ir::ValueId add_shown_score(int port, std::string const& name) {
        return is_connected(port) ? this->port(port) : add_score(name);
    }
    // Backward's Stats as natural logarithms, whatever their base.
    ir::ValueId natural_stats();
    // The modifier's result for the tensor at the given port, which is made now; s itself without a modifier.
    ir::ValueId modified(ir::ValueId s, int given, int returned);

   private:
    ir::ValueId lengths(nodes::attention::LengthPorts const& ports);

    // The bound on the rows of packed sequences, where the user sets one; 0 otherwise.
    std::int64_t most_rows(std::optional<std::int64_t> const& bound) const;
    RaggedRows query_rows() const;
    RaggedRows key_rows() const;

    TargetAbilities const& capabilities_;
    InterleavedNodes& modifier_;
    core::Dims score_dim_;
    ir::ValueId seq_len_q_ = ir::kNoValue, seq_len_kv_ = ir::kNoValue, natural_stats_ = ir::kNoValue;
};

}  // namespace cudnn_frontend::expand
