// K and V in pages, and the tables that say where the pages are. attention_rules.cpp lists the checks with their ids.
#pragma once

#include "nodes/schema/rule.h"

namespace cudnn_frontend::nodes::paged_checks {

void paged_has_lengths(RuleScope const& scope);
void tables_have_dims(RuleScope const& scope);
void page_sizes_fit(RuleScope const& scope);
void stated_length_is_positive(RuleScope const& scope);
void stated_length_agrees(RuleScope const& scope);
void containers_are_not_ragged(RuleScope const& scope);
void tables_are_given(RuleScope const& scope);

}  // namespace cudnn_frontend::nodes::paged_checks
