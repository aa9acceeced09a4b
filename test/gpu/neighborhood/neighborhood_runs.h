// Random cases of neighborhood attention on the GPU.
#pragma once

#include <cstdint>

namespace sdpa_test {

// Prints the faults, and which engines ran how many cases right; returns how many are not right. Each case is planned
// on the GPU as a program would: by any engine, as a program of several attentions, or by all of the library's kernels
// that support it. It runs twice, which must give the same bits where the plan says so.
int check_neighborhoods_on_gpu(std::uint64_t cases);

// Runs the line of a seed as a program, as it is and with one thing or another changed, and prints where results are
// not those of the kernels by tokens; returns how many of these are wrong.
int check_neighborhood_variants(std::uint64_t seed);

}  // namespace sdpa_test
