// Shared by the functions of neighborhood attention: their sizes, the dims that these give their tensors, and the
// rules.
#pragma once

#include "nodes/schema/graph_spec.h"
#include "nodes/schema/schema.h"

namespace cudnn_frontend::nodes {

using NeighborhoodSizes = neighborhood::TokenSizes;
using neighborhood::kMostAxes;

neighborhood::Function neighborhood_function(Node const& node);
bool has_heads_last(Node const& node);

// The port whose dims the others follow: Q, or V where there is no Q.
int leading_port(Node const& node);

// Empty where the tensor at the leading port has other dims, which a rule reports.
std::optional<NeighborhoodSizes> neighborhood_sizes(GraphSpec const& graph, Node const& node);

// The dims of the tensor at the port; empty where the sizes or the kernel do not say.
core::Dims neighborhood_dims(GraphSpec const& graph, Node const& node, int port);

void infer_neighborhood(GraphSpec& graph, Node const& node);

std::span<Rule const> neighborhood_rules();

}  // namespace cudnn_frontend::nodes
