// Environment variables that are switches.
#include "core/process/environment.h"
#include "core/process/process_settings.h"

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

TEST_CASE("a setting is what the environment said first until the program says it") {
    using Kept = cudnn_frontend::core::process::Setting<std::size_t>;
    unsetenv("SDPA_GRAPH_KEPT_BYTES");
    Kept unset(environment::kept_bytes);
    CHECK(unset.get() == 256 << 20);
    setenv("SDPA_GRAPH_KEPT_BYTES", "7", 1);
    CHECK(unset.get() == 256 << 20);
    Kept kept(environment::kept_bytes), said(environment::kept_bytes);
    CHECK(kept.get() == 7);
    kept.set(0);
    CHECK(kept.get() == 0);
    said.set(1);
    CHECK(said.get() == 1);
    unsetenv("SDPA_GRAPH_KEPT_BYTES");
    CHECK(kept.get() == 0);
}

TEST_CASE("the level of the log is a number, or 0") {
    unsetenv("CUDNN_FRONTEND_LOG_INFO");
    CHECK(environment::log_level() == 0);
    for (char const* const none : {"", "yes", "1x"}) {
        setenv("CUDNN_FRONTEND_LOG_INFO", none, 1);
        CHECK(environment::log_level() == 0);
    }
    setenv("CUDNN_FRONTEND_LOG_INFO", "10", 1);
    CHECK(environment::log_level() == 10);
    unsetenv("CUDNN_FRONTEND_LOG_INFO");
}
