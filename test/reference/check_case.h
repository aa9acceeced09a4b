// Runs a case on a target and compares everything it did with the oracle.
#pragma once

#include "reference/session.h"
#include "reference/tolerance.h"

namespace sdpa_test {

oracle::Precision precision_of(AttentionCase const& c, Target const& target);

// The first element of `actual` that is further from `expected` than `allowed`; empty if there is none.
std::string first_difference(char const* name, HostTensor const& actual, oracle::Array const& expected,
                             oracle::Array const& allowed);

// Every fault that was found, forward and then backward: errors, wrong numbers, elements that were not written, memory
// that was written but is no output's. Empty if there is none.
std::string check_case(AttentionCase const& c, Target const& target);

}  // namespace sdpa_test
