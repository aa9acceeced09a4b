// The difference between keys of the plan store.
#include "plan/storage/nearest_entry.h"
#include "plan/storage/plan_folder.h"
#include "support/catch.h"

#include <unistd.h>

using namespace cudnn_frontend::plan;
namespace fs = std::filesystem;

static std::string key_of(std::string const& environment, std::string const& engine, std::string const& graph = "g") {
    return environment + "\nwarpSize 32\n" + engine + "\n0\n" + std::string("\0\1", 2) + graph;
}

TEST_CASE("Keys differ in parts that people can read, or in the graph") {
    std::string const key = key_of("sdpa-graph 0.1.0, cuDNN 91900, NVIDIA H100", "eng1");
    CHECK(key_difference(key, key).empty());
    CHECK(key_difference(key_of("sdpa-graph 0.1.0, cuDNN 91400, NVIDIA H100", "eng1"), key) ==
          "cuDNN 91400 in place of cuDNN 91900");
    CHECK(key_difference(key_of("sdpa-graph 0.1.0, cuDNN 91900, NVIDIA H200", "eng2"), key) ==
          "NVIDIA H200 in place of NVIDIA H100 and eng2 in place of eng1");
    CHECK(key_difference(key_of("sdpa-graph 0.1.0, cuDNN 91900, NVIDIA H100", "eng1", "h"), key) == "another graph");
    CHECK(key_difference("", key) != "");
}

TEST_CASE("The nearest entry of a store has the same graph, where one has it") {
    fs::path const store = fs::temp_directory_path() / ("sdpa_nearest_" + std::to_string(getpid()));
    std::string const key = key_of("cuDNN 91900", "eng1");
    CHECK(difference_from_nearest(store, key).empty());
    REQUIRE(PlanFolder(store / "a").write(key_of("cuDNN 91900", "eng1", "h"), "plan").is_good());
    CHECK(difference_from_nearest(store, key) == "another graph");
    REQUIRE(PlanFolder(store / "b").write(key_of("cuDNN 91400", "eng3"), "plan").is_good());
    CHECK(difference_from_nearest(store, key) == "cuDNN 91400 in place of cuDNN 91900 and eng3 in place of eng1");
    REQUIRE(PlanFolder(store / "a").write(key, "plan").is_good());
    CHECK(difference_from_nearest(store, key) == "cuDNN 91400 in place of cuDNN 91900 and eng3 in place of eng1");
    fs::remove_all(store);
}
