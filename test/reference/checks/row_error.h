// Checks whole rows of FP8 results. The tolerance of an element is for the worst case, which with so few bits is about
// as large as the numbers: a kernel that skips part of a row would pass.
#pragma once

#include "reference/oracle/oracle.h"
#include "support/host_tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sdpa_test {

struct RowExpectation {
    oracle::Array const& wanted;   // without rounding
    oracle::Array const& rounded;  // with the definition's rounding, which shows how much rounding changes
    oracle::Array const& allowed;  // each element's tolerance
};

// The first row whose error is several times that of rounding, by root mean square; empty if there is none.
std::string first_bad_row(char const* name, HostTensor const& actual, RowExpectation const& expected,
                          std::optional<std::vector<std::int64_t>> const& rows);

}  // namespace sdpa_test
