// The checks of attention besides those of dims and types, which follow from the table of operands; each on its own.
// attention_rules.cpp lists them with their ids, and validation/graph_rules.cpp those of the graph. A check is silent
// where a condition fails that it relies on and another check reports: a tensor that is missing or has no four dims is
// reported once.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes {

namespace attention_checks {

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

}  // namespace attention_checks

// Block-scaled attention's scales and other tensors that only it has. In other attention these checks only see that it
// has none of these.
namespace block_scale_checks {

void scales_are_e8m0(RuleScope const& scope);
void scales_have_dims(RuleScope const& scope);
void scales_are_tiled(RuleScope const& scope);
void scales_are_of_one_kind(RuleScope const& scope);
void results_are_half(RuleScope const& scope);
void copies_agree(RuleScope const& scope);
void rows_are_dense(RuleScope const& scope);

// Whether the tensor is read, and as block scales alone.
bool is_block_scale(TensorUses const& uses);

}  // namespace block_scale_checks

// 8-bit attention's factors and types; silent on other attention.
namespace fp8_checks {

void factors_are_there(RuleScope const& scope);
void factors_are_float(RuleScope const& scope);
void known_factors_are_positive(RuleScope const& scope);
void factors_of_products_are_fp8(RuleScope const& scope);
void results_are_narrow(RuleScope const& scope);
void side_tensors_are_wider(RuleScope const& scope);
void is_not_fused(RuleScope const& scope);

}  // namespace fp8_checks

// K and V in pages, and the tables that say where the pages are.
namespace paged_checks {

void paged_has_lengths(RuleScope const& scope);
void tables_have_dims(RuleScope const& scope);
void page_sizes_fit(RuleScope const& scope);
void stated_length_is_positive(RuleScope const& scope);
void stated_length_agrees(RuleScope const& scope);
void containers_are_not_ragged(RuleScope const& scope);
void tables_are_given(RuleScope const& scope);

}  // namespace paged_checks

// Tensors whose sequences lie one after the other, where an offset says where each starts.
namespace ragged_checks {

void offsets_are_sound(RuleScope const& scope);         // of the graph
void multipliers_are_in_range(RuleScope const& scope);  // of the graph
void ragged_tensors_fit(RuleScope const& scope);        // of the graph
void offsets_fit_all_rows(RuleScope const& scope);      // of the graph
void uses_agree_on_rows(RuleScope const& scope);        // of the graph
void ragged_has_padding(RuleScope const& scope);        // of an attention node

}  // namespace ragged_checks

// The effects of a score modifier on the scores, and on their gradient.
namespace score_mod_checks {

void modifier_returns_a_tensor(RuleScope const& scope);
void modified_has_dims(RuleScope const& scope);
void modified_is_made_of_scores(RuleScope const& scope);
void modified_is_float(RuleScope const& scope);
void gradient_has_modifier(RuleScope const& scope);
void curved_modifier_has_gradient(RuleScope const& scope);
void modifier_is_not_fused(RuleScope const& scope);

}  // namespace score_mod_checks

}  // namespace cudnn_frontend::nodes
