#include "expand/attention_scope.h"

#include "nodes/attention/attention_node.h"

#include <algorithm>
#include <numbers>

namespace cudnn_frontend::expand {

using ir::ValueId;

AttentionScope::AttentionScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node,
                               TargetAbilities const& capabilities, InterleavedNodes& modifier)
    : NodeScope(builder, tensors, node), capabilities_(capabilities), modifier_(modifier) {
    if (fields().padding_mask) {
        seq_len_q_ = lengths(nodes::attention::kQueryLengths);
        seq_len_kv_ = lengths(nodes::attention::kKeyLengths);
    }
    // Tensors become values in this order.
    port(Port::Q);
    port(Port::K);
    score_dim_ = nodes::score_dims(graph(), node);
}

ValueId AttentionScope::port(int port) const {
    using namespace attention;
    Operand const& row = operand(port);
    if (!may_be_ragged(row)) return NodeScope::port(port);
    if (is_page_table(row)) {
        int const container = port == PageTableK ? K : V;
        return NodeScope::port(port, {seq_len_kv_, nodes::page_size(graph(), node(), container)});
    }
    return NodeScope::port(port, has_key_rows(row) ? key_rows() : query_rows());
}

// Only backward gets a bound.
std::int64_t AttentionScope::most_rows(std::optional<std::int64_t> const& bound) const {
    return is_backward() ? bound.value_or(0) : 0;
}

RaggedRows AttentionScope::query_rows() const {
    return {.lengths = seq_len_q_, .most = most_rows(fields().max_total_seq_len_q)};
}

RaggedRows AttentionScope::key_rows() const {
    return {.lengths = seq_len_kv_, .most = most_rows(fields().max_total_seq_len_kv)};
}

ValueId AttentionScope::lengths(nodes::attention::LengthPorts const& ports) {
    ValueId const sums = NodeScope::port(ports.sums);
    return sums == ir::kNoValue ? NodeScope::port(ports.lengths) : add_steps(sums);
}

ValueId AttentionScope::natural_stats() {
    if (!fields().stats_use_log2) return port(Port::Stats);
    if (natural_stats_ == ir::kNoValue) {
        ValueId const ln_2 = add_number("ln_2", std::numbers::ln2);
        natural_stats_ = pointwise(PointwiseMode_t::MUL, {port(Port::Stats), ln_2}, add_row("natural_stats"));
    }
    return natural_stats_;
}

ValueId AttentionScope::modified(ValueId s, int given, int returned) {
    if (!is_connected(given)) return s;
    modifier_.show(node().ports[static_cast<std::size_t>(given)]);
    return port(returned);
}

ValueId AttentionScope::add_score(std::string const& name, DataType_t type) {
    return add_virtual(name, score_dim_, type);
}

ValueId AttentionScope::add_row(std::string const& name) {
    return add_virtual(name, {score_dim_[0], score_dim_[1], score_dim_[2], 1}, DataType_t::FLOAT);
}

}  // namespace cudnn_frontend::expand
