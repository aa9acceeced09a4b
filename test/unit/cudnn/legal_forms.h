// The graphs of the expansion's tests in the form that passes give them.
#pragma once

#include "cudnn/planning/lowering.h"
#include "unit/expand/attention_graphs.h"

#include <string>

namespace test {

inline constexpr quirks::Capabilities kH200{.cudnn_version = 91900, .sm = 90};

// Fails the test where a pass makes a graph that does not verify.
cudnn::LegalGraph legalized(AttentionGraph const& attention, quirks::Capabilities const& device = kH200);
inline ir::OpGraph legal(AttentionGraph const& attention) { return legalized(attention).graph; }

// The names of the values that lie in the workspace, without the node's, in alphabetical order.
std::string names_of_scratch(cudnn::LegalGraph const& graph);
// The names of values with the layout of a ragged value.
std::string names_of_packed(cudnn::LegalGraph const& graph);

// The steps that engines perform unasked, in the order of their inputs: "<read> -> <written>, ".
std::string names_of_implied(cudnn::LegalGraph const& graph);

}  // namespace test
