// Additions to memory by several blocks, and numbers in memory by which they wait for each other. A GPU does additions
// at any time and in any order, except behind a number that was shown behind them.
#pragma once

namespace sdpa_test {

// From now on, additions of a kernel wait for its end or for a number that comes behind them; at the end, the blocks'
// additions are done in an order that the seed decides, and so is how late a number is seen. Without it, each is done
// at once.
void shuffle_additions(unsigned seed);
void add_at_once();

void add_to_memory(float* to, float const (&numbers)[4]);
// Shows a number behind the block's additions, or on its own.
void show_number(int* to, int number, bool is_behind_additions);
// Whether memory has the number. If it has, additions that it was shown behind are done.
bool has_number(int const* from, int number);
// Ends a kernel.
void finish_additions();

}  // namespace sdpa_test
