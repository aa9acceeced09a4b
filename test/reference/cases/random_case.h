// Seeded random cases over options, shapes, layouts and data types.
#pragma once

#include "support/attention_case.h"

namespace sdpa_test {

// The share of cases with more rows than one block of a blocked implementation, and their largest number of rows.
struct LongShapes {
    double chance = 0.03;
    std::int64_t most_rows = 300;
};

// The same index gives the same case, always.
AttentionCase random_case(std::uint64_t index);
// A case with masks, and inputs with some NaN and infinity; of wider types than 8 bits.
AttentionCase random_wild_case(std::uint64_t index);
// The same cases as random_case(), except that FP8 attention becomes attention of wider types.
AttentionCase random_wide_case(std::uint64_t index, LongShapes long_cases = {});

}  // namespace sdpa_test
