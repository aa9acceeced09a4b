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
// are ordered, producers before consumers, and each score modifier belongs to its attention.
class ValidatedGraph {
   public:
    GraphSpec const& spec() const { return spec_; }
    // Text for the log, ", ..." for each value that was interpreted differently from the description; empty if there
    // are none.
    std::string const& remarks() const { return remarks_; }

   private:
    friend struct Validator;
    ValidatedGraph(GraphSpec spec, std::string remarks) : spec_(std::move(spec)), remarks_(std::move(remarks)) {}
    GraphSpec spec_;
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
