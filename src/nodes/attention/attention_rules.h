// The rules of attention, forward and backward: one table, src/nodes/attention/attention_rules.cpp.
#pragma once

#include "nodes/schema/rule.h"

#include <span>

namespace cudnn_frontend::nodes {

std::span<Rule const> sdpa_forward_rules();
std::span<Rule const> sdpa_backward_rules();

}  // namespace cudnn_frontend::nodes
