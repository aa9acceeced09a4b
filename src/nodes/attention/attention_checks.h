// The checks of attention besides those of dims and types, which follow from the table of operands; each on its own.
// src/nodes/attention/attention_rules.cpp lists them with their ids. A check is silent where a condition fails that it
// relies on and another check reports: a tensor that is missing or has no four dims is reported once.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::attention_checks {

// Sizes, strides and types of attention's inputs and outputs: attention_tensor_checks.cpp.
void has_four_dims(RuleScope const& scope);
void head_size_is_contiguous(RuleScope const& scope);
void batches_agree(RuleScope const& scope);
void heads_divide(RuleScope const& scope);
void head_sizes_agree(RuleScope const& scope);
void key_lengths_agree(RuleScope const& scope);
void io_types_agree(RuleScope const& scope);
void computes_in_float(RuleScope const& scope);
void lengths_fit(RuleScope const& scope);
void intermediates_fit(RuleScope const& scope);
void tensors_are_in_memory(RuleScope const& scope);
void stats_as_asked(RuleScope const& scope);

// Scale, bias, sink token, lengths and band: attention_mask_checks.cpp.
void scale_is_given_once(RuleScope const& scope);
void scale_is_finite(RuleScope const& scope);
void bias_type_fits(RuleScope const& scope);
void stats_type_fits(RuleScope const& scope);  // of the result
void padding_has_lengths(RuleScope const& scope);
void lengths_are_given(RuleScope const& scope);
void lengths_are_told_once(RuleScope const& scope);
void alibi_heads_fit(RuleScope const& scope);
void right_bound_in_range(RuleScope const& scope);
void left_bound_in_range(RuleScope const& scope);
void dbias_has_bias(RuleScope const& scope);
void dsink_has_sink(RuleScope const& scope);
void token_bounds_in_range(RuleScope const& scope);

// Dropout: attention_dropout_checks.cpp.
void probability_in_range(RuleScope const& scope);
void dropout_is_one_kind(RuleScope const& scope);
void generator_is_complete(RuleScope const& scope);
void generator_state_is_integer(RuleScope const& scope);
void mask_is_complete(RuleScope const& scope);
void dump_has_generator(RuleScope const& scope);
void requested_results_are_used(RuleScope const& scope);

}  // namespace cudnn_frontend::nodes::attention_checks
