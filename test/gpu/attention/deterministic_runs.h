// Deterministic gradients by the library's own engine.
#pragma once

namespace sdpa_test {

// Runs backward of several cases again and again while other work on the GPU comes and goes, prints a line for each and
// returns whether all have the same bits in all runs.
bool check_deterministic_gradients();

}  // namespace sdpa_test
