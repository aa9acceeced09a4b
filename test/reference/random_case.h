// Seeded random cases over options, shapes, layouts and data types.
#pragma once

#include "support/attention_case.h"

namespace sdpa_test {

// The same index gives the same case, always.
AttentionCase random_case(std::uint64_t index);
// The same cases, but for 8-bit attention: those are of wider types here.
AttentionCase random_wide_case(std::uint64_t index);

}  // namespace sdpa_test
