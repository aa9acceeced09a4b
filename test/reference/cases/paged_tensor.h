// K or V of a case in pages.
#pragma once

#include "support/attention_case.h"

namespace sdpa_test {

// {b, h, s, d} in pages of `page_rows` rows in random order, each head by head or row by row.
// Unused pages are NaN, or a number far from the others if the case has tame entries; rows of used pages past the
// lengths are finite numbers.
HostTensor make_paged(AttentionCase const& c, Index4 const& dim, std::int64_t page_rows);

}  // namespace sdpa_test
