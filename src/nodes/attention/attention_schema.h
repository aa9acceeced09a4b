// The rows that the tables of forward and backward attention share, and inference that both need.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/schema.h"

#include <algorithm>
#include <array>

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
        if (row.round != attention::kOwnRound) port.round = row.round;
    }
    return ports;
}

// Joins tables at compile time.
template <class Row, std::size_t A, std::size_t B>
constexpr std::array<Row, A + B> join(std::array<Row, A> const& a, std::array<Row, B> const& b) {
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
        return std::array<Row, A + B>{a[I]..., b[J]...};
    }
    (std::make_index_sequence<A>(), std::make_index_sequence<B>());
}

// The strides of a packed tensor {B, H, S, D} whose rows hold all heads: the layout of sequences of different lengths.
core::Dims rows_first_strides(core::Dims const& dim);

// Fills an output's dims and packed strides, and its type, where they are empty; nothing where no tensor is connected.
void infer_output(TensorSpec* tensor, core::Dims const& dim);
void infer_output(TensorSpec* tensor, core::Dims const& dim, DataType_t type);
// The same for all outputs of attention: a gradient follows the tensor whose gradient it is, the others follow sizes.
void infer_results(GraphSpec& graph, Node const& node);

}  // namespace cudnn_frontend::nodes
