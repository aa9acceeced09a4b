// How fast neighborhood attention runs on the GPU.
#pragma once

#include <string>

namespace sdpa_test {

// Prints a table of the first engine for each shape; where that may be a program, of the first of the library's own
// too, and of the named one, if there is a name. Returns how many rows could not be run.
int measure_neighborhoods(std::string const& engine);

}  // namespace sdpa_test
