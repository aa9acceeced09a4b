// Checks of tensors that are read before anything runs, and so cannot be the result of a node.
#pragma once

#include "nodes/schema/rule.h"

#include <span>

namespace cudnn_frontend::nodes {

void expect_given_lengths(RuleScope const& scope, std::span<int const> ports);
void expect_given_tables(RuleScope const& scope, std::span<int const> ports);

}  // namespace cudnn_frontend::nodes
