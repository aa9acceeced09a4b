// How fast neighborhood attention runs on the GPU.
#pragma once

namespace sdpa_test {

// Prints a table; returns how many rows could not be run.
int measure_neighborhoods();

}  // namespace sdpa_test
