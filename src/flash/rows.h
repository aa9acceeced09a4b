// What is written for each row beside attention's own results, in host memory.
#pragma once

#include "flash/lengths.h"

namespace sdpa_graph::flash {

// Minus infinity, which a graph gives to rows without keys, becomes +infinity.
void mark_rows_without_keys(Tensor_view const& log_sums);

// From rows of all heads, as a packed graph has them, to heads of all rows, and back. Rows of no sequence are left
// alone.
void spread_log_sums(Call const& call, Lengths const& lengths, float const* rows, Tensor_view const& log_sums);
void gather_log_sums(Call const& call, Lengths const& lengths, Tensor_view const& log_sums, float* rows);

// (1 - p_dropout) times the sum of dout * out over a row.
void write_softmax_d(Call const& call, Lengths const* lengths, Tensor_view const& softmax_d);

// Probabilities with a sign, from those of a graph and its dropout mask, each {b, h, queries, keys}.
void write_signed(Tensor_view const& p, void const* probabilities, float const* kept, std::int64_t queries,
                  std::int64_t keys);

}  // namespace sdpa_graph::flash
