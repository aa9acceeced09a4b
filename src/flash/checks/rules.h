// The checks of every call before anything runs. docs/flash.md lists the rules; tests assert their ids.
#pragma once

#include "calls/argument_checks.h"
#include "flash/call.h"

#include <span>

namespace sdpa_graph::flash {

using calls::text;

using Scope = calls::Scope<Call, Sizes>;
using Rule = fe::core::RuleFor<Scope>;

// The rules for arguments, and those for the integers in host memory. The latter are checked only if the arguments are
// valid.
std::span<Rule const> argument_rules();
std::span<Rule const> content_rules();
// The rule for memory that the call asks for.
fe::core::Rule const& memory_rule();

// All findings as one error.
error_t check(Call const& call);

// The conditions of the rules, one function each.
namespace checks {

// tensor_checks.cpp
void tensors_have_memory(Scope const& scope);
void tensors_have_ranks(Scope const& scope);
void one_device(Scope const& scope);
void target_fits(Scope const& scope);
void q_has_16_bits(Scope const& scope);
void one_type(Scope const& scope);
void integers_have_32_bits(Scope const& scope);
void numbers_are_floats(Scope const& scope);
void last_stride_is_one(Scope const& scope);
void dims_fit(Scope const& scope);
void whole_tensors_are_contiguous(Scope const& scope);
void rows_hold_all_heads(Scope const& scope);
void results_are_writable(Scope const& scope);

// option_checks.cpp
void packed_has_sequences(Scope const& scope);
void head_size_is_bounded(Scope const& scope);
void head_size_is_even(Scope const& scope);
void heads_divide(Scope const& scope);
void pages_have_rows(Scope const& scope);
void pages_have_whole_steps(Scope const& scope);
void dropout_is_a_chance(Scope const& scope);
void softmax_needs_dropout(Scope const& scope);
void softcap_excludes_dropout(Scope const& scope);
void numbers_are_finite(Scope const& scope);
void dropout_has_generator(Scope const& scope);
void pages_exclude_dropout(Scope const& scope);
void lengths_are_counts(Scope const& scope);

// content_checks.cpp
void totals_ascend(Scope const& scope);
void lengths_are_bounded(Scope const& scope);
void used_keys_are_there(Scope const& scope);
void blocks_are_there(Scope const& scope);

}  // namespace checks

}  // namespace sdpa_graph::flash
