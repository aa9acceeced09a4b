// K or V of a case in pages.
#pragma once

#include "support/attention_case.h"

namespace sdpa_test {

// {b, h, s, d}, in pages of so many rows that lie in no order, each head by head or row by row. Pages that hold no key
// are NaN, or a number that is far from the others where entries are tame; rows of used pages past the lengths are
// numbers.
HostTensor make_paged(AttentionCase const& c, Index4 const& dim, std::int64_t page_rows);

}  // namespace sdpa_test
