// Seeded random cases over options, shapes, layouts and data types.
#pragma once

#include "support/attention_case.h"

namespace sdpa_test {

// How many cases have more rows than one block of a blocked implementation, and how many rows at most.
struct LongCases {
    double chance = 0.03;
    std::int64_t most_rows = 300;
};

// The same index gives the same case, always.
AttentionCase random_case(std::uint64_t index);
// A case that has masks, and inputs with NaN and infinity here and there; of wider types than 8 bits.
AttentionCase random_wild_case(std::uint64_t index);
// The same cases as those of random_case(), but for 8-bit attention: those are of wider types here.
AttentionCase random_wide_case(std::uint64_t index, LongCases long_cases = {});

}  // namespace sdpa_test
