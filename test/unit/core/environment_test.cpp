// Variables of the environment that switch something.
#include "core/environment.h"

#include "support/catch.h"

#include <cstdlib>

namespace environment = cudnn_frontend::core::environment;

TEST_CASE("indices are checked where the variable is set, and neither empty nor 0") {
    unsetenv("SDPA_GRAPH_CHECK_INDICES");
    CHECK_FALSE(environment::checks_indices());
    for (char const* const off : {"", "0"}) {
        setenv("SDPA_GRAPH_CHECK_INDICES", off, 1);
        CHECK_FALSE(environment::checks_indices());
    }
    setenv("SDPA_GRAPH_CHECK_INDICES", "1", 1);
    CHECK(environment::checks_indices());
    unsetenv("SDPA_GRAPH_CHECK_INDICES");
}
