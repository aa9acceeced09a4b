// GraphSpec -> ValidatedGraph: infers the values that are empty, then checks every rule.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/schema.h"

#include <cudnn_frontend/advice.h>
#include <cudnn_frontend/report.h>

#include <optional>
#include <span>
#include <string>
#include <utility>

namespace cudnn_frontend::nodes {

// A graph that satisfies every rule, complete: each tensor that a node uses has uid, type, dims and strides; the nodes
// are ordered, producers before consumers.
class ValidatedGraph {
   public:
    GraphSpec const& spec() const { return spec_; }
    // A node of the spec in messages: like rules, by its position in the user's order.
    std::string label(Node const& node) const;
    // For the log, the values that were interpreted differently from the description: ", ..." for each; empty if there
    // are none.
    std::string const& remarks() const { return remarks_; }

   private:
    friend struct Validator;
    ValidatedGraph(GraphSpec spec, std::vector<std::size_t> positions, std::string remarks)
        : spec_(std::move(spec)), positions_(std::move(positions)), remarks_(std::move(remarks)) {}
    GraphSpec spec_;
    std::vector<std::size_t> positions_;  // of each node before sorting
    std::string remarks_;
};

struct Validation {
    Report report;
    std::optional<ValidatedGraph> graph;  // present iff the report is ok
};

Validation validate(GraphSpec spec);

std::span<Rule const> graph_rules();

// Advice: properties of a graph that are legal but probably not meant.
Advice advise(ValidatedGraph const& graph);

}  // namespace cudnn_frontend::nodes
