// The checks of block-scaled attention's scales and other tensors that only it has;
// src/nodes/attention/attention_rules.cpp lists them with their ids. In other attention they only check that it has
// none of these.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes {

struct TensorUses;

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
}  // namespace cudnn_frontend::nodes
