// The checks of every call before anything runs. docs/neighborhood-functions.md lists the rules; tests assert their
// ids.
#pragma once

#include "calls/argument_checks.h"
#include "neighborhood/call.h"

#include <span>

namespace sdpa_graph::neighborhood {

using calls::text;

using Scope = calls::Scope<Call, TokenSizes>;
using Rule = fe::core::RuleFor<Scope>;

std::span<Rule const> rules();
// The rule about scratch memory that the call asks for.
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
void leading_type_is_wide(Scope const& scope);
void one_type(Scope const& scope);
void logsumexp_is_float(Scope const& scope);
void dims_fit(Scope const& scope);
void tensors_are_contiguous(Scope const& scope);
void results_are_writable(Scope const& scope);

// option_checks.cpp
void windows_have_keys(Scope const& scope);
void dilation_is_positive(Scope const& scope);
void windows_fit(Scope const& scope);
void vectors_are_whole(Scope const& scope);
void bias_excludes_causal_axes(Scope const& scope);
void bias_needs_odd_kernels(Scope const& scope);
void products_need_odd_kernels(Scope const& scope);
void scale_is_finite(Scope const& scope);
void hints_are_positive(Scope const& scope);

}  // namespace checks

}  // namespace sdpa_graph::neighborhood
