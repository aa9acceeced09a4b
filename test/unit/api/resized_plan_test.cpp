// Shapes that no plan is resized to, and plans that cannot be resized.
#include <cudnn_frontend/resized_plan.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <limits>
#include <string>

using namespace cudnn_frontend;
using graph::Resized_plan;
using graph::Tensor_shape;
using test::Graph;
using test::small_graph;

namespace {

using Sizes = std::vector<std::int64_t>;

struct Refusal {
    error_code_t code;
    std::string message;
};

Refusal refusal_of(Graph const& graph, std::int64_t uid, Sizes const& dim, Sizes const& stride) {
    Tensor_shape const shape{uid, dim.data(), stride.data(), dim.size()};
    Resized_plan made;
    auto const error = Resized_plan::make(graph, &shape, 1, made);
    CHECK(!made.is_made());
    return {error.get_code(), error.get_message()};
}

}  // namespace

TEST_CASE("a plan is resized only once it is built, and run only once it is resized") {
    auto small = small_graph();
    auto const unbuilt = refusal_of(small.graph, 0, {2, 4, 6, 8}, {192, 48, 8, 1});
    CHECK(unbuilt.code == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(unbuilt.message ==
          "Resized_plan::make needs the result of build_plans; call that first, or build() for all stages");
    Resized_plan const none;
    CHECK(none.get_workspace_size() == 0);
    std::map<std::int64_t, void*> const pack;
    CHECK(none.execute(cudnnHandle_t(nullptr), pack, nullptr).get_message() ==
          "there is no plan yet; call Resized_plan::make() first");
}

TEST_CASE("shapes that are not those of the graph's tensors are refused") {
    auto small = small_graph();
    small.q->set_uid(7);
    small.graph.set_name("small");
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    auto const expect = [&](std::int64_t uid, Sizes const& dim, Sizes const& stride, std::string const& text) {
        auto const refusal = refusal_of(small.graph, uid, dim, stride);
        CHECK(refusal.code == error_code_t::INVALID_VALUE);
        CHECK(refusal.message == "graph 'small': the shape for uid " + text);
    };
    std::string const legal = "expected sizes above 0, and strides that are not negative and do not overflow.";
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() / 4;
    expect(70, {2, 4, 6, 8}, {192, 48, 8, 1}, "70: found no tensor of that uid; expected one that get_uid() returns.");
    expect(7, {2, 4, 6}, {24, 6, 1}, "7: found 3 dims and 3 strides; expected 4 of each, as the graph's tensor has.");
    expect(7, {0, 4, 6, 8}, {192, 48, 8, 1}, "7: found dims [0, 4, 6, 8] and strides [192, 48, 8, 1]; " + legal);
    expect(7, {2, 4, 6, 8}, {192, 48, -8, 1}, "7: found dims [2, 4, 6, 8] and strides [192, 48, -8, 1]; " + legal);
    expect(7, {2, 4, 6, 8}, {kHuge, 48, 8, 1},
           "7: found dims [2, 4, 6, 8] and strides [" + std::to_string(kHuge) + ", 48, 8, 1]; " + legal);
}

TEST_CASE("an engine that serves the shapes of its graph alone has no plans for others") {
    auto small = small_graph();
    small.q->set_uid(7);
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    auto const refusal = refusal_of(small.graph, 7, {2, 4, 6, 8}, {192, 48, 8, 1});
    CHECK(refusal.code == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(refusal.message ==
          "the plan's engine serves the shapes of its graph alone, or the plan was stored and loaded; describe the "
          "graph, and call set_shape_policy(ShapePolicy_t::ALL_SHAPES) before it is built, or build a graph of these "
          "shapes");
}

TEST_CASE("where first runs are verified, no plan is resized") {
    auto small = small_graph();
    small.q->set_uid(7);
    REQUIRE(small.graph.set_first_run_verification(true).build(Target::cpu()).get_message() == "");
    auto const refusal = refusal_of(small.graph, 7, {2, 4, 6, 8}, {192, 48, 8, 1});
    CHECK(refusal.code == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(refusal.message.starts_with("first runs of the graph's plans are verified"));
}

TEST_CASE("a shape for each tensor, and lists that are there, are needed") {
    auto small = small_graph();
    small.q->set_uid(7);
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    Sizes const dim{2, 4, 6, 8}, stride{192, 48, 8, 1};
    Tensor_shape const twice[] = {{7, dim.data(), stride.data(), 4}, {7, dim.data(), stride.data(), 4}};
    Tensor_shape const null{7, nullptr, stride.data(), 4};
    Resized_plan made;
    CHECK(Resized_plan::make(small.graph, twice, 2, made).get_message() ==
          "the shape for uid 7: found more than one shape; expected one shape for each tensor.");
    CHECK(Resized_plan::make(small.graph, &null, 1, made).get_message() ==
          "the shape for uid 7: found a null pointer; expected lists of dims and strides.");
    CHECK(Resized_plan::make(small.graph, nullptr, 1, made).get_message() ==
          "the array of shapes is null; pass one shape for each tensor");
}
