// The plan store of a process whose cuDNN becomes another version.
#include "core/process/plan_store.h"
#include "support/catch.h"
#include "support/system/temporary_folder.h"
#include "unit/cudnn/planning/recorded_planning.h"

#include <cudnn_frontend/runtime.h>
#include <sdpa_graph/plan_store.h>

#include <vector>

using namespace cudnn_frontend;
namespace fs = std::filesystem;

namespace {

// The process's store, which is gone at the end.
struct Store {
    Store() { sdpa_graph::set_plan_store({folder.path().string()}); }
    ~Store() { sdpa_graph::set_plan_store({}); }

    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        for (auto const& entry : fs::recursive_directory_iterator(folder.path())) {
            if (entry.is_regular_file()) all.push_back(entry.path());
        }
        return all;
    }

    sdpa_test::TemporaryFolder folder;
};

// Where a build gets its plan from, in a process that has not built the graph before.
std::string source_of_plan() {
    runtime::forget_graphs();
    auto const before = core::process::engine_counts_of_thread();
    auto small = test::small_graph();
    REQUIRE(small.graph.build(sdpa_test::h200()).get_message() == "");
    auto const after = core::process::engine_counts_of_thread();
    REQUIRE(after.compiled + after.loaded == before.compiled + before.loaded + 1);
    return after.loaded > before.loaded ? "the store" : "the compiler";
}

}  // namespace

TEST_CASE("plan store: plans of one cuDNN are misses for another one in the same process") {
    sdpa_test::RecordedPlanning planning;
    planning.fake.has_one_engine = true;  // the same in each process
    Store const store;
    CHECK(source_of_plan() == "the compiler");
    CHECK(source_of_plan() == "the store");
    fs::path const old = store.files().at(0);

    planning.fake.version = 91901;
    CHECK(source_of_plan() == "the compiler");
    CHECK(source_of_plan() == "the store");
    auto const files = store.files();
    REQUIRE(files.size() == 2);
    fs::path const made = files[0] == old ? files[1] : files[0];
    CHECK(made.parent_path() != old.parent_path());
    fs::copy_file(old, made, fs::copy_options::overwrite_existing);
    CHECK(source_of_plan() == "the compiler");
    CHECK(source_of_plan() == "the store");

    planning.fake.version = 91900;
    CHECK(source_of_plan() == "the store");
    CHECK(planning.fake.faults().empty());
}
