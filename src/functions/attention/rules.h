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

}  // namespace sdpa_graph::attention
