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

}  // namespace sdpa_graph::neighborhood
