// Which NCCL is loaded, and why one is not.
#include "support/skip.h"
#include "unit/nccl/fake_ranks.h"

#include <cstdlib>

using namespace test;

namespace {

std::string refusal_of(std::string const& file) {
    auto const opened = nccl::open({false, {{file, "of the tests"}}, {}});
    return opened.error().get_message();
}

}  // namespace

TEST_CASE("group.c19: a file that is no NCCL is named, with what to install") {
    CHECK_THAT(refusal_of("/nowhere/libnccl.so.2"),
               Catch::Contains("[group.c19]: found no NCCL: /nowhere/libnccl.so.2 (") &&
                   Catch::Contains("expected NCCL 2.18 or later. Try: pip install nvidia-nccl-cu13, or set "
                                   "SDPA_GRAPH_NCCL_PATH to the file or its folder."));
    CHECK_THAT(refusal_of("libm.so.6"), Catch::Contains("libm.so.6 without ncclGetVersion, ncclGetUniqueId, "));
}

TEST_CASE("group.c19: a release before 2.18 is refused") {
    Faults faults;
    CHECK(refusal_of(FAKE_NCCL).empty());
    faults.set("version", 21705);
    CHECK_THAT(refusal_of(FAKE_NCCL), Catch::Contains("[group.c19]: found NCCL 2.17.5, "));
    faults.set("ncclGetVersion", 2);
    CHECK_THAT(refusal_of(FAKE_NCCL),
               Catch::Contains("[group.c19]: found ncclGetVersion returned 2, a text: the last error"));
}

TEST_CASE("nccl: the file or folder of the variable is the only one that is tried") {
    REQUIRE(setenv("SDPA_GRAPH_NCCL_PATH", "/nowhere/libnccl.so.2", 1) == 0);
    fe::cuda::LibrarySearch const plan = nccl::library_search();
    unsetenv("SDPA_GRAPH_NCCL_PATH");
    CHECK(!plan.use_loaded);
    REQUIRE(plan.files.size() == 1);
    CHECK(plan.files[0].path == "/nowhere/libnccl.so.2");
    CHECK(nccl::library_search().use_loaded);
}

TEST_CASE("nccl: the real library makes ids without a GPU, and says that there is none") {
    char const* const file = std::getenv("SDPA_GRAPH_TEST_NCCL");
    if (file == nullptr) return sdpa_test::skip("SDPA_GRAPH_TEST_NCCL names no libnccl.so.2");
    auto const opened = nccl::open({false, {{file, "of the tests"}}, {}});
    REQUIRE(opened.error().get_message() == "");
    int version = 0;
    CHECK(opened.value().version(&version) == nccl::kSuccess);
    CHECK(version >= nccl::kOldestVersion);
    auto const id = nccl::make_id(opened.value());
    REQUIRE(id.error().get_message() == "");
    CHECK(std::string(id.value().bytes, 8) != std::string(8, '\0'));
}
