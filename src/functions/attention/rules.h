// The checks of every call before anything runs. docs/attention-functions.md lists the rules; tests assert their ids.
#pragma once

#include "calls/checks.h"
#include "functions/attention/call.h"

#include <optional>
#include <span>

namespace sdpa_graph::attention {

using calls::text;

// The input of a check, and the place of its reports.
struct Scope {
    Call const& call;
    std::optional<Sizes> const& sizes;  // empty where tensors do not have the ranks that sizes need
    calls::Reporter reporter;

    void report(Argument argument, std::string found, std::string needed, std::string fix) const {
        reporter.report(name_of(argument), std::move(found), std::move(needed), std::move(fix));
    }
};

struct Rule : calls::Condition {
    void (*check)(Scope const& scope);
};

std::span<Rule const> argument_rules();
// These read lengths in host memory, of calls that keep all other rules.
std::span<Rule const> content_rules();
// The rule about memory that the call asks for.
calls::Condition const& memory_rule();

// All findings as one error.
error_t check(Call const& call);

}  // namespace sdpa_graph::attention
