// What holds for tensors of lengths, of attention and of matmul alike.
#pragma once

#include "nodes/rule.h"

#include <span>

namespace cudnn_frontend::inline v1::nodes {

// Lengths are read before anything runs, so that they cannot be the result of a node.
void expect_given_lengths(RuleScope const& scope, std::span<int const> ports);

}  // namespace cudnn_frontend::inline v1::nodes
