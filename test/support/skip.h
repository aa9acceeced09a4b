// A test that cannot check anything on this machine reports that and returns; ctest then counts it as skipped, by way
// of sdpa_test() in test/CMakeLists.txt. A test that returns without an assertion and without this fails.
#pragma once

#include <string>

namespace sdpa_test {

void skip(std::string const& reason);

}  // namespace sdpa_test
