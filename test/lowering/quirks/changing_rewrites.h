// Which rewrites of the table of quirks give cuDNN another form of a graph.
#pragma once

#include "cudnn/quirks/quirk.h"
#include "nodes/validation/validate.h"

#include <vector>

namespace sdpa_test {

// The quirks in force there without whose pass the library gets something else.
std::vector<cudnn_frontend::quirks::Quirk const*> changing_rewrites(cudnn_frontend::nodes::ValidatedGraph const& graph,
                                                                    cudnn_frontend::quirks::Capabilities const& here);

}  // namespace sdpa_test
