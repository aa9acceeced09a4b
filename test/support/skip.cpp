#include "support/skip.h"

#include "support/catch.h"

namespace sdpa_test {

void skip(std::string const& reason) { WARN("this test is skipped: " << reason); }

}  // namespace sdpa_test
