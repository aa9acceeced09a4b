// The operations that change an attention's scores, for some of its queries, keys and heads.
#pragma once

#include "rewrite/program_builder.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cudnn_frontend::rewrite {

// Heads of all tensors: one of so many equal parts.
struct HeadPart {
    std::int64_t index, count;
};

// A part of the scores: its heads, the places of its first query and key in the whole sequences, and the rows of its
// queries in the rank's tensors, which with 0 rows are all.
struct ScorePart {
    HeadPart heads;
    std::int64_t first_query = 0, first_key = 0;
    std::int64_t first_row = 0, rows = 0;
    // How far into its sequence each batch entry starts, in addition to the first query and the first key.
    std::optional<View> queries_before = {}, keys_before = {};
};

// Whether a generator drops some of the weights.
bool draws_dropout(Attention const& attention);

// Whether the user's score modifier counts rows, columns or heads.
bool has_counting_modifier(Attention const& attention);

// The tensors that score modifiers read from memory, and their numbers.
std::vector<nodes::TensorSpec const*> tensors_of_modifiers(Attention const& attention);

// The tensors next to Q, K, V and their results with a number for each query: a bias, or what score modifiers read.
std::vector<nodes::TensorSpec const*> tensors_of_rows(Attention const& attention);

// Adds the score modifier of the user, and operations in place of an ALiBi mask, whose slopes depend on the number of
// heads. Both count heads, queries and keys from those of the whole attention.
void add_score_nodes(Attention const& attention, ScorePart const& part, AttentionDraft& draft);

}  // namespace cudnn_frontend::rewrite
