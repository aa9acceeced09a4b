// The checks of every call before anything runs. docs/flash.md lists the rules; tests assert their ids.
#pragma once

#include "calls/checks.h"
#include "flash/call.h"

#include <optional>
#include <span>
#include <string>

namespace sdpa_graph::flash {

using calls::text;

// The input of a check, and its way to report.
class Scope {
   public:
    Scope(Call const& call, std::optional<Sizes> const& sizes, struct Rule const& rule, calls::Findings& findings)
        : call_(call), sizes_(sizes), rule_(rule), findings_(findings) {}

    Call const& call() const { return call_; }
    // Empty if q, k or cu_seqlens lack the dims from which sizes follow, which another rule reports.
    std::optional<Sizes> const& sizes() const { return sizes_; }

    // Tensors with the same fault, reported one after the other, become one finding.
    void report(Argument argument, std::string found, std::string needed, std::string fix) const;
    void report(std::string found, std::string needed, std::string fix) const;
    // For checks that other functions share.
    calls::Reporter reporter() const;

   private:
    Call const& call_;
    std::optional<Sizes> const& sizes_;
    Rule const& rule_;
    calls::Findings& findings_;
};

struct Rule : calls::Condition {
    void (*check)(Scope const& scope);
};

// The rules for arguments, and those for the integers in host memory. The latter are checked only if the arguments are
// valid.
std::span<Rule const> argument_rules();
std::span<Rule const> content_rules();
// The rule for memory that the call asks for.
calls::Condition const& memory_rule();

// All findings as one error.
error_t check(Call const& call);

}  // namespace sdpa_graph::flash
