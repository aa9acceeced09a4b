// The tensors of the corpus' graphs, and their JSON.
#pragma once

#include "model.h"

#include <cudnn_frontend/graph.h>

#include <memory>
#include <string>
#include <vector>

namespace corpus {

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;
using Sizes = std::vector<std::int64_t>;

// A graph of tensors of this type; numbers in between are floats.
fe::graph::Graph graph_of(char const* title, DataType_t type);

// A dense tensor of the graph.
Tensor dense(fe::graph::Graph& graph, char const* name, Sizes const& dim, DataType_t type);

// A result with the dims, strides and offsets of another tensor.
void finish(Tensor const& result, char const* name, fe::graph::Tensor_attributes const& like);

// Ends the program with the findings where the graph is not valid.
std::string json_of(fe::graph::Graph const& graph);

}  // namespace corpus
