// The rules of nodes and graphs: what their checks see, and how they report. Ids are in docs/spec.md, in messages and
// in test names.
#pragma once

#include "nodes/schema/schema.h"
#include "nodes/schema/uses.h"

#include <span>
#include <string>

namespace cudnn_frontend::nodes {

// The input of a check, and the place of its reports. A node rule sees one node; a graph rule sees none.
class RuleScope : public core::Reporter {
   public:
    // The uses are those of the graph: listed once, because many rules need them.
    RuleScope(GraphSpec const& graph, Uses const& uses, Node const* node, core::Rule const& rule,
              core::Findings& findings)
        : Reporter(rule, findings), graph_(graph), uses_(uses), node_(node) {}

    GraphSpec const& graph() const { return graph_; }
    Uses const& uses() const { return uses_; }
    Node const& node() const { return *node_; }
    // The same rule for one node: for graph rules that concern nodes.
    RuleScope at(Node const& node) const {
        RuleScope scope = *this;
        scope.node_ = &node;
        return scope;
    }

    TensorSpec const* tensor(int port) const { return graph_.tensor(*node_, port); }
    // The tensor if it is connected and has four dims of at least 1; checks that compare sizes need no further guard.
    TensorSpec const* tensor_4d(int port) const;

    std::string label(TensorSpec const& tensor) const;

    // Reports a violation at a tensor, at the tensor of a port, or at the node as a whole. In the texts for a port,
    // kPort is its placeholder; several ports with the same texts become one finding.
    void report(TensorSpec const& tensor, std::string found, std::string needed, std::string fix) const;
    void report_port(int port, std::string found, std::string needed, std::string fix) const;
    void report_node(std::string found, std::string needed, std::string fix) const;

   private:
    void add(std::string tensor, std::string const& port, std::string found, std::string needed, std::string fix) const;

    GraphSpec const& graph_;
    Uses const& uses_;
    Node const* node_;
};

// The advice on attention and on pointwise nodes: rows like those of rules, whose checks report a property, its
// consequence and a remedy.
std::span<Rule const> attention_advice();
std::span<Rule const> pointwise_advice();

// Checks of tensors that are read before anything runs, and so cannot be the result of a node.
void expect_given_lengths(RuleScope const& scope, std::span<int const> ports);
void expect_given_tables(RuleScope const& scope, std::span<int const> ports);

}  // namespace cudnn_frontend::nodes
