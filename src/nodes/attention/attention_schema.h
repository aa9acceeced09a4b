// The rows that the tables of forward and backward attention share, and inference that both need.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/schema.h"

#include <algorithm>
#include <array>
#include <span>

namespace cudnn_frontend::nodes {

// Reads and writes through the fields struct of the node kind, since a field of a base needs its whole object.
template <class F>
constexpr std::array kAttentionFieldRows = {
    field<F, &F::attn_scale>("attn_scale", "factor of the scores"),
    field<F, &F::alibi_mask>("alibi_mask", "add slope * (column - row) to the scores"),
    field<F, &F::padding_mask>("padding_mask", "mask rows and columns beyond the sequence lengths"),
    field<F, &F::diagonal_alignment>("diagonal_alignment", "the corner where the diagonal of the band starts"),
    field<F, &F::left_bound>("left_bound", "columns kept up to the diagonal, counting it"),
    field<F, &F::right_bound>("right_bound", "columns kept beyond the diagonal"),
    field<F, &F::dropout_probability>("dropout_probability", "chance that a probability is dropped"),
    field<F, &F::block_scaled>("block_scaled", "8-bit numbers with a scale for each 32 of them"),
    field<F, &F::stats_use_log2>("stats_use_log2", "Stats in base 2"),
    field<F, &F::max_total_seq_len_q>("max_total_seq_len_q", "where the last packed sequence of queries ends, at most"),
    field<F, &F::max_total_seq_len_kv>("max_total_seq_len_kv", "where the last packed sequence of keys ends, at most"),
};

// The ports of forward or of backward attention, in the order of the table of operands.
template <attention::Use attention::Operand::*use>
consteval auto attention_ports() {
    constexpr auto kIsUsed = [](attention::Operand const& row) { return attention::is_used(row.*use); };
    std::array<PortRow, std::ranges::count_if(attention::kOperands, kIsUsed)> ports{};
    std::size_t next = 0;
    for (attention::Operand const& row : attention::kOperands) {
        if (!kIsUsed(row)) continue;
        PortRow& port = ports[next++];
        bool const is_backward = use == &attention::Operand::backward;
        port = {row.port, row.name, attention::reads(row.*use) ? Direction::Input : Direction::Output,
                attention::is_required(row.*use) ? Presence::Required : Presence::Optional,
                is_backward ? row.summary_in_backward() : row.summary};
        port.is_inner = row.is_inner;
    }
    return ports;
}

// Whether each row holds all heads, so that sequences can follow each other. Where heads lie further apart than rows,
// the extent of a sequence depends on the heads as well.
bool has_rows_of_all_heads(TensorSpec const& tensor);

// Fills what is empty of all outputs of attention: a gradient follows the tensor whose gradient it is, the others
// follow sizes.
void infer_results(GraphSpec& graph, Node const& node);

std::span<Rule const> sdpa_forward_rules();
std::span<Rule const> sdpa_backward_rules();

}  // namespace cudnn_frontend::nodes
