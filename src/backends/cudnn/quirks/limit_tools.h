// What the rows that look at graphs share: facts about a graph, and how violations are worded.
#pragma once

#include "cudnn/quirks/quirk.h"

#include <vector>

namespace cudnn_frontend::quirks {

using Facts = AttentionFacts;
using Found = std::optional<Violation>;
namespace Port = nodes::attention;

inline std::string number(std::int64_t value) { return std::to_string(value); }

// Q, K, V, O and their gradients.
constexpr bool is_matrix(Port::Operand const& row) { return Port::has_vectors(row) && row.part == Port::Part::Any; }
bool is_ragged(nodes::TensorSpec const* tensor);
bool is_deterministic(Facts const& facts);
// The deterministic algorithm and dBias need dQ as one product, not as sums that blocks of keys add to; see
// passes/gradient_of_queries.h.
bool needs_product_of_dq(Facts const& facts);
bool draws_dropout(Facts const& facts);
bool shares_key_heads(Facts const& facts);    // fewer heads in K than in Q
bool has_softmax_result(Facts const& facts);  // Max or Sum_exp
// Whether a node of the graph is TANH_BWD or its like.
bool has_backward_activation(Facts const& facts);
// {1, H, 1, 1}: one value for each head.
bool is_per_head(nodes::TensorSpec const& tensor);
bool is_forward_of_one_query(Facts const& facts);
// What the attention's modifiers read from memory, of 4 dims.
std::vector<nodes::TensorSpec const*> tensors_of_modifiers(Facts const& facts);
// The first tensor with rows of queries or keys that is ragged, or that is not; -1 where there is none. Pages are
// neither.
int first_row_port(Facts const& facts, bool wants_ragged);

// The first tensor that modifiers read of which the text says something, such as "per-head values in".
template <class TextOf>
Found wrong_in_modifier(Facts const& facts, TextOf text_of) {
    for (nodes::TensorSpec const* const tensor : tensors_of_modifiers(facts)) {
        std::string const text = text_of(*tensor);
        if (!text.empty()) return Violation{Port::Score_mod, text + " '" + tensor->name + "' of the modifier"};
    }
    return {};
}

// The first tensor with per-head values, but for a sink token; of a modifier its port and its name.
Found per_head_values(Facts const& facts);

// The first tensor whose head dim violates, of those that have one.
template <class IsBad>
Found bad_head_dim(Facts const& facts, IsBad is_bad) {
    for (int const port : {Port::Q, Port::V}) {
        std::int64_t const dim = facts.tensor(port)->dim[3];
        if (is_bad(dim)) return Violation{port, "a head dim of " + number(dim)};
    }
    return {};
}

}  // namespace cudnn_frontend::quirks
