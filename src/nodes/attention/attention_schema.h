// The rows that the tables of forward and backward attention share, and inference that both need.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/schema.h"

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

inline constexpr std::array kAttentionOptionPorts = {
    PortRow{attention::Attn_scale, "attn_scale", Direction::Input, Presence::Optional, "factor of the scores"},
    PortRow{attention::Bias, "bias", Direction::Input, Presence::Optional, "added to the scaled scores"},
    PortRow{attention::Seq_len_q, "seq_len_q", Direction::Input, Presence::Optional, "rows of each batch entry"},
    PortRow{attention::Seq_len_kv, "seq_len_kv", Direction::Input, Presence::Optional, "columns of each batch entry"},
    PortRow{attention::Cu_seq_len_q, "cu_seq_len_q", Direction::Input, Presence::Optional,
            "in place of seq_len_q, their sums: {B + 1, 1, 1, 1}"},
    PortRow{attention::Cu_seq_len_kv, "cu_seq_len_kv", Direction::Input, Presence::Optional,
            "in place of seq_len_kv, their sums: {B + 1, 1, 1, 1}"},
    PortRow{attention::Seed, "seed", Direction::Input, Presence::Optional, "key of the dropout generator"},
    PortRow{attention::Offset, "offset", Direction::Input, Presence::Optional, "position of the dropout generator"},
    PortRow{attention::Dropout_mask, "dropout_mask", Direction::Input, Presence::Optional, "1 keeps a probability"},
    PortRow{attention::Dropout_scale, "dropout_scale", Direction::Input, Presence::Optional, "factor of what is kept"},
    PortRow{attention::Sink_token, "sink_token", Direction::Input, Presence::Optional,
            "a logit for each head, in the softmax without a key"},
    PortRow{attention::Rng_dump, "rng_dump", Direction::Output, Presence::Optional, "the generated dropout mask"},
    PortRow{attention::Score, "score", Direction::Output, Presence::Optional, "scaled scores, for a modifier", 0},
    PortRow{attention::Score_mod, "score_mod", Direction::Input, Presence::Optional, "what a modifier made of them", 1},
};

// Ports of 8-bit attention, which needs all inputs of its kind of scaling; a rule says so.
constexpr PortRow fp8_input(int port, char const* name, char const* summary) {
    return {port, name, Direction::Input, Presence::Optional, summary};
}
constexpr PortRow fp8_output(int port, char const* name, char const* summary) {
    return {port, name, Direction::Output, Presence::Optional, summary};
}

// Joins tables at compile time.
template <class Row, std::size_t A, std::size_t B>
constexpr std::array<Row, A + B> join(std::array<Row, A> const& a, std::array<Row, B> const& b) {
    return [&]<std::size_t... I, std::size_t... J>(std::index_sequence<I...>, std::index_sequence<J...>) {
        return std::array<Row, A + B>{a[I]..., b[J]...};
    }
    (std::make_index_sequence<A>(), std::make_index_sequence<B>());
}

// Of a packed tensor {B, H, S, D} whose rows hold all heads: how sequences of different lengths lie in one.
core::Dims rows_first_strides(core::Dims const& dim);

// Of what says where each batch entry starts and the last one ends; empty where no number counts them.
core::Dims boundary_dims(std::int64_t batches);

// Fills an output's dims and packed strides, and its type, where they are empty; nothing where no tensor is connected.
void infer_output(TensorSpec* tensor, core::Dims const& dim);
void infer_output(TensorSpec* tensor, core::Dims const& dim, DataType_t type);
// Of 8-bit attention: one FLOAT each.
void infer_amaxes(GraphSpec& graph, Node const& node);

}  // namespace cudnn_frontend::nodes
