// The checks of every call before anything runs. docs/attention-functions.md lists the rules; tests assert their ids.
#pragma once

#include "calls/argument_checks.h"
#include "functions/attention/call.h"

#include <span>

namespace sdpa_graph::attention {

using calls::text;

using Scope = calls::Scope<Call, Sizes>;
using Rule = fe::core::RuleFor<Scope>;

std::span<Rule const> argument_rules();
// These read lengths in host memory, of calls that keep all other rules.
std::span<Rule const> content_rules();
// The rule about memory that the call asks for.
fe::core::Rule const& memory_rule();

// All findings as one error.
error_t check(Call const& call);

// The conditions of the rules, one function each.
namespace checks {

// tensor_checks.cpp
std::size_t rank_of(Call const& call, Argument argument);
void tensors_have_memory(Scope const& scope);
void tensors_have_ranks(Scope const& scope);
void one_device(Scope const& scope);
void target_fits(Scope const& scope);
void last_stride_is_one(Scope const& scope);
void types_fit(Scope const& scope);
void dims_fit(Scope const& scope);
void tables_are_contiguous(Scope const& scope);
void results_are_writable(Scope const& scope);

// option_checks.cpp
void numbers_are_finite(Scope const& scope);
void dropout_is_a_chance(Scope const& scope);
void dropout_has_seed(Scope const& scope);
void bounds_have_32_bits(Scope const& scope);
void lengths_are_given_once(Scope const& scope);
void pages_are_of_forward(Scope const& scope);

// content_checks.cpp
void ends_ascend(Scope const& scope);
void sequences_are_bounded(Scope const& scope);
void lengths_are_there(Scope const& scope);

}  // namespace checks

}  // namespace sdpa_graph::attention
