// The mistakes that may explain wrong results: each hypothesis is an edit of the problem. It explains them if the
// reference of the edited problem gives the results that were got.
#pragma once

#include "api/verification/problem.h"

#include <string>
#include <vector>

namespace cudnn_frontend::verification {

struct Hypothesis {
    std::string id;
    std::string text;                    // a sentence that says what was computed instead
    std::function<void(Problem&)> edit;  // may make a graph that breaks a rule, which then explains nothing
};

// The hypotheses that differ from the problem, the likeliest first.
std::vector<Hypothesis> hypotheses_of(Problem const& problem);

// Parts of the list.
using Hypotheses = std::vector<Hypothesis>;
void add_mask_hypotheses(Problem const& problem, Hypotheses& list);
void add_length_hypotheses(Problem const& problem, Hypotheses& list);
void add_score_hypotheses(Problem const& problem, Hypotheses& list);
void add_memory_hypotheses(Problem const& problem, Hypotheses& list);
void add_gradient_hypotheses(Problem const& problem, Hypotheses& list);

// Edits.

// The attention nodes of a problem.
template <class Visit>
void for_each_attention(Problem& problem, Visit const& visit) {
    for (nodes::Node& node : problem.spec.nodes) {
        auto const* const fields = nodes::attention_fields(std::as_const(node));
        if (fields != nullptr) visit(node, const_cast<nodes::AttentionFields&>(*fields));
    }
}

// An edit of the options of all attention nodes.
template <class Change>
std::function<void(Problem&)> with_fields(Change const& change) {
    return [change](Problem& problem) {
        for_each_attention(problem, [&](nodes::Node&, nodes::AttentionFields& fields) { change(fields); });
    };
}

std::function<void(Problem&)> without_ports(std::vector<int> const& ports);

// The options of the first attention node.
nodes::AttentionFields const& first_fields(Problem const& problem);
// The tensor of the first attention node that has one at this port; kNoTensor where none has.
TensorId tensor_at(Problem const& problem, int port);
// Whether it is there and in memory.
bool has_memory(Problem const& problem, int port);
// Replaces the tensor's memory by a copy in which each element is value(index).
void rewrite(Problem& problem, TensorId id, std::function<double(Dims const&)> const& value);
// The only number of a tensor, or of the graph.
std::optional<double> number_at(Problem const& problem, int port);
// The factor by which the first attention node multiplies its scores.
double scale_of(Problem const& problem);

}  // namespace cudnn_frontend::verification
