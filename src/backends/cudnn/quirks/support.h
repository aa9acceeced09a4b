// The answers of the table of quirks for a graph. The rules of the graph itself are in src/nodes.
#pragma once

#include "cudnn/quirks/quirk.h"
#include "cudnn/quirks/versions.h"

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::quirks {

// A quirk that a node of the graph runs into.
struct Violated {
    Quirk const* quirk;
    nodes::Node const* node;
    Violation violation;
};

// The violations with the verdict Refuse, each id at most once for a node.
std::vector<Violated> violations(nodes::ValidatedGraph const& graph, Capabilities const& here,
                                 QuirkSettings const& settings = {});

// The same as findings, which say the device and the release too.
Report check(nodes::ValidatedGraph const& graph, Capabilities const& here, QuirkSettings const& settings = {});

// The quirk that bars kernels which split the keys of one query; null where they are right.
Quirk const* bar_on_split_keys(nodes::ValidatedGraph const& graph, Capabilities const& here);

// Whether cuDNN computes the graph in one order in each run. Engines' notes do not say so.
bool is_deterministic(nodes::ValidatedGraph const& graph);

// Whether some row with that id applies, for passes.
bool is_in_force(std::string_view id, Capabilities const& here);

}  // namespace cudnn_frontend::quirks
