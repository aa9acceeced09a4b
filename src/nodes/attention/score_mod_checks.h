// The effects of a score modifier on the scores, and on their gradient.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::score_mod_checks {

void modifier_returns_a_tensor(RuleScope const& scope);
void modified_has_dims(RuleScope const& scope);
void modified_is_made_of_scores(RuleScope const& scope);
void modified_is_float(RuleScope const& scope);
void gradient_has_modifier(RuleScope const& scope);
void curved_modifier_has_gradient(RuleScope const& scope);
void modifier_is_not_fused(RuleScope const& scope);

}  // namespace cudnn_frontend::nodes::score_mod_checks
