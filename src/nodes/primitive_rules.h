// The rules of the nodes that are one primitive operation.
#pragma once

#include "nodes/rule.h"

#include <span>

namespace cudnn_frontend::inline v1::nodes {

std::span<Rule const> pointwise_rules();
std::span<Rule const> matmul_rules();
std::span<Rule const> reduction_rules();

}  // namespace cudnn_frontend::inline v1::nodes
