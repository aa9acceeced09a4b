// The checks of 8-bit attention's factors and types; src/nodes/attention/attention_rules.cpp lists them with their ids.
// They say nothing of other attention.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::fp8_checks {

void factors_are_there(RuleScope const& scope);
void factors_are_float(RuleScope const& scope);
void known_factors_are_positive(RuleScope const& scope);
void factors_of_products_are_fp8(RuleScope const& scope);
void results_are_narrow(RuleScope const& scope);
void side_tensors_are_wider(RuleScope const& scope);
void is_not_fused(RuleScope const& scope);

}  // namespace cudnn_frontend::nodes::fp8_checks
