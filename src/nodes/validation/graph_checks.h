// The checks of the graph as a whole, each on its own; graph_rules.cpp lists them. Values that are set are checked on
// every tensor of the graph, missing ones only if a node uses the tensor.
#pragma once

#include "nodes/schema/rule.h"

#include <string>

namespace cudnn_frontend::nodes {
namespace tensor_checks {

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

}  // namespace tensor_checks

// Enumerators may be made from any number.
// Every field with an enumeration type, of the graph, its tensors and its nodes, has one of its values.
void enumerators_are_known(RuleScope const& scope);

// The most common mistake about layouts is rows before heads.
// The hint if an invalid graph would satisfy every rule with dims 1 and 2 of some of attention's tensors swapped; else
// empty.
std::string order_hint(GraphSpec const& described, bool (*meets_all_rules)(GraphSpec graph));

}  // namespace cudnn_frontend::nodes
