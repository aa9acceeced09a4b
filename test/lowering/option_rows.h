// One graph for each option and each limit: the rows of the support matrix.
#pragma once

#include "cudnn/quirks/support.h"

#include <cudnn_frontend/graph.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sdpa_test {

struct OptionRow {
    std::string name;
    // Nothing for backward where only forward has the option.
    std::function<std::optional<cudnn_frontend::graph::Graph>(bool is_backward)> graph;
    cudnn_frontend::quirks::QuirkSettings settings = {};
};

std::vector<OptionRow> option_rows();

// The graph in the form that limits get; ends the program where the graph's own rules refuse it.
cudnn_frontend::nodes::ValidatedGraph validated(cudnn_frontend::nodes::GraphSpec spec);
cudnn_frontend::nodes::GraphSpec spec_of(cudnn_frontend::graph::Graph const& graph);

}  // namespace sdpa_test
