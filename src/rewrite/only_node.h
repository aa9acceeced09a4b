// The node that a rewrite starts from: the only one of its graph, whose tensors are views.
#pragma once

#include "core/result.h"
#include "rewrite/program.h"

namespace cudnn_frontend::rewrite {

class OnlyNode {
   public:
    nodes::GraphSpec const& graph() const { return *graph_; }
    nodes::Node const& node() const { return graph_->nodes.front(); }

    nodes::TensorSpec const* tensor(int port) const { return graph_->tensor(node(), port); }
    // Whether there is memory for it, or a number.
    bool has(int port) const { return tensor(port) != nullptr && !tensor(port)->is_virtual; }
    // The whole tensor of a port that it has.
    View view(int port) const;

   protected:
    explicit OnlyNode(nodes::GraphSpec const& graph) : graph_(&graph) {}

   private:
    nodes::GraphSpec const* graph_;
};

// One condition under which a rewrite computes what the graph says.
template <class Subject>
struct ConditionOf {
    char const* id;       // such as few_queries.c02
    char const* summary;  // the condition, as a sentence
    bool (*holds)(Subject const& subject);

    std::string text() const { return std::string("\n  ") + id + ": " + summary; }
};

// The error of a rewrite, with the texts of the conditions that do not hold.
error_t refusal(char const* rewrite, std::string const& conditions);

// An error that names all conditions that do not hold.
template <class Subject, class Conditions>
error_t check(char const* rewrite, Conditions const& conditions, Subject const& subject) {
    std::string broken;
    for (ConditionOf<Subject> const& condition : conditions) {
        if (!condition.holds(subject)) broken += condition.text();
    }
    return broken.empty() ? error_t() : refusal(rewrite, broken);
}

}  // namespace cudnn_frontend::rewrite
