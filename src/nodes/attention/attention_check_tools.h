// Shared by the checks of attention.
#pragma once

#include "nodes/schema/rule.h"
#include "nodes/schema/wording.h"

namespace cudnn_frontend::nodes::attention_checks {

char const* name(RuleScope const& scope, int port);
AttentionFields const& fields(RuleScope const& scope);

// The type of Q, which K and V follow; NOT_SET where Q is missing or of a type that attention does not support.
DataType_t io_type(RuleScope const& scope);

bool is_wide(DataType_t type);  // HALF, BFLOAT16 or FLOAT

// Whether K or V, of this port, has no page table and another batch size than Q: its third dim, which may be the rows
// of a page, then says nothing about keys. Backward has no pages.
bool may_lack_table(RuleScope const& scope, int port);

// Skv; 0 where no reliable tensor gives it.
std::int64_t key_count(RuleScope const& scope);

// {B, Hq, Sq, Skv}; empty where Q or K does not give them.
core::Dims score_dims(RuleScope const& scope);

// Each reports the tensor of the port where it is connected and violates the condition.
void expect_dims(RuleScope const& scope, int port, core::Dims const& wanted, std::string const& meaning);
void expect_type(RuleScope const& scope, int port, DataType_t type);
// Expects one of the types that `fits` accepts and `types` names.
void expect_one_of(RuleScope const& scope, int port, bool (*fits)(DataType_t type), char const* types, char const* fix);
// Expects a wide type for a result, or for a tensor that is added to or multiplied by scores; in FP8 attention another
// rule does.
void expect_wide_type(RuleScope const& scope, int port);
void expect_one_element(RuleScope const& scope, int port);

// The dims and the type that the table of operands has for the port.
void expect_own_dims(RuleScope const& scope, int port);
void expect_own_type(RuleScope const& scope, int port);

// Checks of several ports.
template <attention::Port... ports>
void dims_fit(RuleScope const& scope) {
    (expect_own_dims(scope, ports), ...);
}
template <attention::Port... ports>
void types_fit(RuleScope const& scope) {
    (expect_own_type(scope, ports), ...);
}
template <attention::Port... ports>
void fit(RuleScope const& scope) {
    ((expect_own_dims(scope, ports), expect_own_type(scope, ports)), ...);
}

}  // namespace cudnn_frontend::nodes::attention_checks
