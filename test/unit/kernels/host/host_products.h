// The factors of warpgroups' products in shared memory, which the units read a piece of 16 bytes at a time.
#pragma once

#include "host_async.h"

// Panels of factors, whose pieces of 8 columns are permuted within their rows.
constexpr int kPanelColumns = 64;
constexpr int kPanelRowBytes = 2 * kPanelColumns, kPanelAlignment = 8 * kPanelRowBytes;

namespace host_matrix {

// Reads the factors of the running thread's sums; NaN where the product does not see them. For both 16-bit types.
template <class Element, bool TRANSPOSED_A, bool TRANSPOSED_B>
void load_factors(sdpa_test::AsyncProduct const& product, sdpa_test::ProductFactors& factors);

}  // namespace host_matrix

namespace sdpa_test {

// Adds the products of rows and columns to their sums, in the order of k.
void add_products(ProductFactors const& factors, int columns, ThreadSums& sums);

}  // namespace sdpa_test
