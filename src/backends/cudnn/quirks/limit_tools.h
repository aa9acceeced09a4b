// Shared by the rows that look at graphs: facts about a graph, and the wording of violations.
#pragma once

#include "cudnn/quirks/quirk.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::quirks {

using Facts = AttentionFacts;
using Found = std::optional<Violation>;
namespace Port = nodes::attention;

inline std::string number(std::int64_t value) { return std::to_string(value); }

// The ports of all operands.
constexpr bool is_any(Port::Operand const&) { return true; }
// Q, K, V, O and their gradients.
constexpr bool is_matrix(Port::Operand const& row) { return Port::has_vectors(row) && row.part == Port::Part::Any; }
bool is_ragged(nodes::TensorSpec const* tensor);
bool is_deterministic(Facts const& facts);
// The deterministic algorithm and dBias need dQ as one product, not as sums that blocks of keys add to; see
// passes/pass_list.h.
bool needs_product_of_dq(Facts const& facts);
bool draws_dropout(Facts const& facts);
bool shares_key_heads(Facts const& facts);    // fewer heads in K than in Q
bool has_softmax_result(Facts const& facts);  // Max or Sum_exp
// Whether a node of the graph is TANH_BWD or its like.
bool has_backward_activation(Facts const& facts);
// {1, H, 1, 1}: one value for each head.
bool is_per_head(nodes::TensorSpec const& tensor);
bool is_forward_of_one_query(Facts const& facts);
// The tensors of 4 dims that the attention's modifiers read from memory.
std::vector<nodes::TensorSpec const*> tensors_of_modifiers(Facts const& facts);
// The tensors with rows of queries or keys that are ragged, or that are not. Pages are neither.
std::vector<int> row_ports(Facts const& facts, bool wants_ragged);
inline bool has_ragged_rows(Facts const& facts) { return !row_ports(facts, true).empty(); }

// One violation of all ports, with each text once; none where there are no ports.
Found violation_at(std::vector<int> const& ports, std::vector<std::string> const& texts);

// Finds the ports whose tensors are at fault: text_of(port, tensor) says what was found, nothing where all is right.
template <class Ports, class TextOf>
Found wrong_at(Facts const& facts, Ports const& ports, TextOf text_of) {
    std::vector<int> at_fault;
    std::vector<std::string> texts;
    for (int const port : ports) {
        nodes::TensorSpec const* const tensor = facts.tensor(port);
        std::string text = tensor == nullptr ? std::string() : text_of(port, *tensor);
        if (text.empty()) continue;
        at_fault.push_back(port);
        texts.push_back(std::move(text));
    }
    return violation_at(at_fault, texts);
}

// The tensors that modifiers read of which the text says something, such as "per-head values in".
template <class TextOf>
Found wrong_in_modifier(Facts const& facts, TextOf text_of) {
    std::vector<std::string> texts;
    for (nodes::TensorSpec const* const tensor : tensors_of_modifiers(facts)) {
        std::string const text = text_of(*tensor);
        if (!text.empty()) texts.push_back(text + " '" + tensor->name + "' of the modifier");
    }
    return violation_at(texts.empty() ? std::vector<int>() : std::vector<int>{Port::ScoreMod}, texts);
}

// The tensors with per-head values, except a sink token; for a modifier its port and the tensors' names.
Found per_head_values(Facts const& facts);

// Whether cudnn.s04 refuses heads of that size, of whatever tensor.
bool refuses_head_dim(Facts const& facts, std::int64_t dim);

// The inputs whose head dim violates.
template <class IsBad>
Found bad_head_dim(Facts const& facts, IsBad is_bad) {
    return wrong_at(facts, std::array{Port::Q, Port::K, Port::V}, [&](int, nodes::TensorSpec const& tensor) {
        return is_bad(tensor.dim[3]) ? "a head dim of " + number(tensor.dim[3]) : "";
    });
}

}  // namespace cudnn_frontend::quirks
