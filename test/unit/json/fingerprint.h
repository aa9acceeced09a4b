// A graph as text, a line for each member of each struct, independent of the field tables that JSON uses.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <string>

namespace cudnn_frontend::test {

std::string fingerprint(nodes::GraphSpec const& spec);
std::string fingerprint(nodes::TensorSpec const& tensor);
std::string fingerprint(nodes::Fields const& fields);

}  // namespace cudnn_frontend::test
