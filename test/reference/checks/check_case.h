// Runs a case on a target and compares all results with the oracle.
#pragma once

#include "reference/checks/session.h"
#include "reference/checks/tolerance.h"

#include <functional>

namespace sdpa_test {

// The target of cases, and the guarantees there.
struct Rig {
    explicit Rig(Target const& where) : target(where) {}

    Target target;
    std::function<void(Graph&)> prepare = [](Graph&) {};  // settings of the graph, before it is built
    std::function<error_t(Session const&)> execute = [](Session const& session) { return session.execute(); };
    bool rounds_factors = false;  // rounds probabilities and dS to the inputs' type, as tensor cores need them
    bool joins_parts = false;     // rounds partial results to their type, and Stats of parts to FLOAT
    int parts = 0;                // of how many partial gradients a gradient is the sum at most
    // Rows beyond the lengths are written, with zeros; so are those of batch entries that have no queries or no keys.
    bool defines_padded_rows = true;
    bool dumps_masked_elements = true;  // of the dropout mask
};

// The expected values of a tensor that is scaled before it is stored, and their tolerance. Without a factor the allowed
// error includes that of storing.
struct Stored {
    oracle::Array wanted, allowed;
};
Stored stored(oracle::Array const& exact, oracle::Array const& allowed, HostTensor const& factor, DataType_t type);

oracle::Precision precision_of(AttentionCase const& c, Rig const& rig);

struct Difference {
    std::string fault;   // the first element of `actual` farther from `expected` than `allowed`; empty if none
    double worst = 0.0;  // the largest error, in units of the allowed one
};

Difference compare(char const* name, HostTensor const& actual, oracle::Array const& expected,
                   oracle::Array const& allowed, std::optional<std::vector<std::int64_t>> const& rows);
inline std::string first_difference(char const* name, HostTensor const& actual, oracle::Array const& expected,
                                    oracle::Array const& allowed) {
    return compare(name, actual, expected, allowed, std::nullopt).fault;
}

// The outcome of the forward or the backward graph of a case.
struct PassOutcome {
    std::string refusal;  // why the graph was not built
    // A line each for failed runs, wrong numbers, elements that were not written, and memory that was written although
    // it belongs to no output.
    std::string faults;
    double worst = 0.0;  // the largest error, in units of the allowed one
    bool ran = false;
    bool ran_program = false;  // not the graph as given, but a rewrite of it
};

struct Outcome {
    PassOutcome forward, backward;

    std::string faults() const;  // refusals too; empty if there are none
};

Outcome check_case(AttentionCase const& c, Rig const& rig);
inline std::string check_case(AttentionCase const& c, Target const& target) {
    return check_case(c, Rig(target)).faults();
}

}  // namespace sdpa_test
