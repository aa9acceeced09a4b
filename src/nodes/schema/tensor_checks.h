// The checks of the graph's tensors, each on its own; src/nodes/schema/graph_rules.cpp lists them. Values that are set
// are checked on every tensor of the graph, missing ones only if a node uses the tensor.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::tensor_checks {

// Whether there are as many dims as strides, all in range, so that arithmetic on them makes sense.
bool has_regular_layout(TensorSpec const& tensor);

void belongs_to_graph(RuleScope const& scope);
void has_data_type(RuleScope const& scope);
void has_layout(RuleScope const& scope);
void has_rank_in_range(RuleScope const& scope);
void has_stride_for_each_dim(RuleScope const& scope);
void has_positive_dims(RuleScope const& scope);
void has_no_negative_stride(RuleScope const& scope);
void fits_memory(RuleScope const& scope);
void has_whole_byte_elements(RuleScope const& scope);
void has_sound_alignment(RuleScope const& scope);
void is_plainly_laid_out(RuleScope const& scope);
void has_valid_uid(RuleScope const& scope);
void has_own_uid(RuleScope const& scope);
void by_value_is_one_element(RuleScope const& scope);
void by_value_is_not_virtual(RuleScope const& scope);
void embedded_value_has_own_type(RuleScope const& scope);

}  // namespace cudnn_frontend::nodes::tensor_checks
