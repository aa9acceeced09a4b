// Stored plans, read without loading them.
#include <cudnn_frontend/stored_plan.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <string>
#include <vector>

using namespace cudnn_frontend;
using Bytes = std::vector<std::uint8_t>;

namespace {

Bytes stored(graph::Graph& graph, Target const& target) {
    REQUIRE(graph.build(target).get_message() == "");
    Bytes bytes;
    REQUIRE(graph.serialize(bytes).get_message() == "");
    return bytes;
}

Stored_plan read(Bytes const& bytes) {
    Stored_plan plan;
    REQUIRE(read_stored_plan(bytes, plan).get_message() == "");
    return plan;
}

}  // namespace

TEST_CASE("a stored plan for a CPU tells its target, its engine and its workspace") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        auto small = test::small_graph();
        Stored_plan const plan = read(stored(small.graph, target));
        std::string name;
        REQUIRE(small.graph.get_plan_name(name).is_good());
        CHECK(plan.target == target.kind());
        CHECK(plan.device == "");
        CHECK(plan.cudnn_version == 0);
        CHECK(plan.name == name);
        CHECK(plan.workspace_bytes == small.graph.get_workspace_size());
        CHECK(plan.workspace_bytes > 0);
        CHECK(plan.kernels.empty());
        CHECK(plan.to_text() == "plan " + name + "\n  target " + to_string(target.kind()) + "\n  workspace of " +
                                    std::to_string(plan.workspace_bytes) + " bytes\n");
        graph::Graph again;
        REQUIRE(again.deserialize(plan.graph).get_message() == "");
        REQUIRE(again.validate().get_message() == "");
        std::string json;
        REQUIRE(again.serialize(json).is_good());
        CHECK(json == plan.graph);
    }
}

TEST_CASE("a stored plan for a GPU is told in lines") {
    Stored_plan const plan{.target = Target::Kind::OFFLINE,
                           .device = "NVIDIA H200",
                           .cudnn_version = 91900,
                           .name = "program few_queries(2): eng2_k24=7",
                           .workspace_bytes = 4096,
                           .kernels = {"attention", "merge"},
                           .graph = "{}"};
    CHECK(plan.to_text() == R"(plan program few_queries(2): eng2_k24=7
  target offline, for NVIDIA H200
  cuDNN 9.19.0
  workspace of 4096 bytes
  kernel attention
  kernel merge
)");
}

TEST_CASE("bytes that are no stored plan are refused, and what was read before stays") {
    auto small = test::small_graph();
    Bytes const bytes = stored(small.graph, Target::cpu());
    Stored_plan plan = read(bytes);
    std::string const before = plan.to_text();
    for (std::size_t size = 0; size < bytes.size(); size += 7) {
        CAPTURE(size);
        auto const error = read_stored_plan({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, plan);
        CHECK(error.get_code() == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
        CHECK(error.get_message().find("the bytes are no stored plan that this library can read: ") == 0);
    }
    CHECK(plan.to_text() == before);
}
