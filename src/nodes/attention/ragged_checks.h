// Tensors whose sequences lie one after the other, where an offset says where each starts.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::ragged_checks {

// Whether each row holds all heads, so that sequences can follow each other. Where heads lie further apart than rows,
// the extent of a sequence depends on the heads as well.
bool has_rows_of_all_heads(TensorSpec const& tensor);

void offsets_are_sound(RuleScope const& scope);         // of the graph
void multipliers_are_in_range(RuleScope const& scope);  // of the graph
void ragged_tensors_fit(RuleScope const& scope);        // of the graph
void offsets_fit_all_rows(RuleScope const& scope);      // of the graph
void uses_agree_on_rows(RuleScope const& scope);        // of the graph
void ragged_has_padding(RuleScope const& scope);        // of an attention node

}  // namespace cudnn_frontend::nodes::ragged_checks
