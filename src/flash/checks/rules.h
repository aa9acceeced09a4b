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

}  // namespace sdpa_graph::flash
