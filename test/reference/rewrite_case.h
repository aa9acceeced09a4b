// Seeded random cases to which a rewrite applies. The same index gives the same case, always.
#pragma once

#include "support/attention_case.h"

namespace sdpa_test {

AttentionCase few_queries_case(std::uint64_t index);
AttentionCase bands_case(std::uint64_t index);
AttentionCase slices_case(std::uint64_t index);

}  // namespace sdpa_test
