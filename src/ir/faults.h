// The faults of an op graph as findings, and the checks of its operations.
#pragma once

#include "core/findings.h"
#include "ir/op_graph.h"

#include <string>

namespace cudnn_frontend::ir {

// There is no rule to name: a fault is one of an expansion or a pass, not of the user's graph.
Finding fault_at_value(OpGraph const& graph, ValueId id, std::string found, std::string needed);
Finding fault_at_op(OpGraph const& graph, std::size_t index, std::string found, std::string needed);

bool is_in_range(OpGraph const& graph, ValueId id);

// "%3 Q", or "%3" for a value without a name.
std::string label_of(OpGraph const& graph, ValueId id);

// Conditions on one operation alone: needed operands, and dims that fit each other.
void check_operands(OpGraph const& graph, std::size_t op_index, core::Findings& findings);

}  // namespace cudnn_frontend::ir
