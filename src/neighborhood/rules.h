// The checks of every call before anything runs. docs/neighborhood-functions.md lists the rules; tests assert their
// ids.
#pragma once

#include "calls/checks.h"
#include "neighborhood/call.h"

#include <optional>
#include <span>
#include <string>

namespace sdpa_graph::neighborhood {

using calls::text;

// The input of a check, and the place of its reports.
struct Scope {
    Call const& call;
    std::optional<Sizes> const& sizes;  // empty where the leading tensor does not have the dims that it needs
    calls::Reporter reporter;

    void report(std::string argument, std::string found, std::string needed, std::string fix) const {
        reporter.report(std::move(argument), std::move(found), std::move(needed), std::move(fix));
    }
};

struct Rule : calls::Condition {
    void (*check)(Scope const& scope);
};

std::span<Rule const> rules();
// The rule about scratch memory that the call asks for.
calls::Condition const& memory_rule();

// All findings as one error.
error_t check(Call const& call);

}  // namespace sdpa_graph::neighborhood
