// Graphs that are built again share the lowered graph and the compiled plans of the first of them.
#include "api/graph/graph_impl.h"
#include "cudnn/library/library.h"
#include "cudnn/offline/devices.h"
#include "cudnn/planning/lowering.h"
#include "cudnn/planning/shared_graph.h"
#include "lowering/case_graphs.h"

#include <cudnn_frontend/process.h>

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <set>

using namespace sdpa_test;
using namespace cudnn_frontend;
using cudnn::GraphKey;

namespace {

struct Described {
    char const* name = "Q";
    std::int64_t uid = 1, rows = 64;
    bool is_causal = false;
};

void describe(graph::Graph& graph, Described const& described) {
    graph.set_io_data_type(DataType_t::BFLOAT16).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT);
    auto const tensor = [&](char const* name, std::int64_t uid) {
        std::int64_t const s = described.rows;
        return graph.tensor(graph::Tensor_attributes()
                                .set_name(name)
                                .set_uid(uid)
                                .set_dim({2, 4, s, 64})
                                .set_stride({4 * s * 64, s * 64, 64, 1}));
    };
    auto const q = tensor(described.name, described.uid), k = tensor("K", 2), v = tensor("V", 3);
    auto const o = graph.sdpa(q, k, v, graph::SDPA_attributes().set_causal_mask(described.is_causal))[0];
    o->set_output(true).set_uid(4);
}

struct Asked {
    Described described = {};
    char const* device = "h200";
    bool dynamic_shapes = false;
    std::int32_t sm_count = 0;
    bool unfuses_multiplication = false;
};

GraphKey key_of(Asked const& asked) {
    graph::Graph graph;
    describe(graph, asked.described);
    auto const validation = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(graph).spec);
    auto op_graph = cudnn::op_graph_for_cudnn(*validation.graph, {});
    cudnn::Api const& api = *cudnn::library().api;
    auto device = cudnn::Device::from_json(api, offline::find_device(asked.device).value().properties);
    return {std::move(op_graph).value(),
            {&api, std::move(device).value(), false},
            asked.dynamic_shapes,
            asked.sm_count,
            asked.unfuses_multiplication};
}

std::shared_ptr<cudnn::SharedGraph> lowered(Asked const& asked) {
    auto graph = cudnn::find_or_lower(key_of(asked));
    REQUIRE(graph.error().get_message() == "");
    return graph.value();
}

// Sets how many bytes are kept, for one test.
struct Kept {
    explicit Kept(std::size_t bytes) { runtime::set_kept_bytes(bytes); }
    ~Kept() { runtime::set_kept_bytes(std::size_t{256} << 20); }
};

// The lowered graphs that the process keeps.
runtime::Kept_statistics kept_now() {
    for (auto const& kind : runtime::kept_statistics()) {
        if (std::string(kind.kind) == "lowered graphs") return kind;
    }
    return {};
}

double milliseconds_of_build(graph::Graph& graph) {
    auto const start = std::chrono::steady_clock::now();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("a graph that differs from a kept one in names alone is that one", "[offline]") {
    if (!has_cudnn()) return;
    CHECK(lowered({}) == lowered({.described = {.name = "queries"}}));
}

TEST_CASE("whatever decides how a graph is planned makes it another one", "[offline]") {
    if (!has_cudnn()) return;
    auto const graph = lowered({});
    for (Asked const& other :
         {Asked{.described = {.uid = 9}}, Asked{.described = {.rows = 128}}, Asked{.described = {.is_causal = true}},
          Asked{.device = "h100"}, Asked{.dynamic_shapes = true}, Asked{.sm_count = 64},
          Asked{.unfuses_multiplication = true}}) {
        CHECK(lowered(other) != graph);
        CHECK(lowered(other) == lowered(other));
    }
    CHECK(lowered({}) == graph);
}

TEST_CASE("graphs that nothing holds go when there is no room, those that were used last stay", "[offline]") {
    if (!has_cudnn()) return;
    runtime::forget_graphs();
    Asked const b{.described = {.rows = 96}}, c{.described = {.rows = 160}};
    std::weak_ptr<cudnn::SharedGraph> const of_b = lowered(b);
    auto const a = lowered({});
    std::int64_t const bytes_of_two = kept_now().bytes;
    Kept const two(static_cast<std::size_t>(bytes_of_two * 5 / 4));
    std::weak_ptr<cudnn::SharedGraph> const of_c = lowered(c);
    CHECK(of_b.expired());
    CHECK(lowered({}) == a);
    CHECK(lowered(c) == of_c.lock());
    Kept const none(0);
    CHECK(lowered({}) != lowered({}));
}

TEST_CASE("the bytes of a lowered graph are about those that cuDNN allocates for it", "[offline]") {
    if (!has_cudnn()) return;
    auto const heap = [] {
        auto const all = mallinfo2();
        return static_cast<double>(all.uordblks + all.hblkhd);
    };
    auto const build = [](std::int64_t rows) {
        graph::Graph graph;
        describe(graph, {.rows = rows});
        milliseconds_of_build(graph);
    };
    build(32);
    double const before = heap();
    std::int64_t const bytes_before = kept_now().bytes;
    constexpr int kGraphs = 5;
    for (int i = 1; i <= kGraphs; ++i) build(1000 + 16 * i);
    double const grown = heap() - before, counted = static_cast<double>(kept_now().bytes - bytes_before);
    CAPTURE(grown / kGraphs, counted / kGraphs);
    CHECK(counted > grown / 2);
    CHECK(counted < grown * 2);
}

TEST_CASE("graphs that are forgotten are lowered anew, and what holds them still has them", "[offline]") {
    if (!has_cudnn()) return;
    auto const graph = lowered({});
    graph->forget();
    auto const again = lowered({});
    CHECK(again != graph);
    runtime::forget_graphs();
    CHECK(lowered({}) != again);
    CHECK(graph->engines({HeurMode_t::A}).value().size() >= 1);
}

TEST_CASE("heuristics are queried once for each mode, and lists of modes share their engines", "[offline]") {
    if (!has_cudnn()) return;
    auto const graph = lowered({});
    auto const first = graph->engines({HeurMode_t::A}).value(), again = graph->engines({HeurMode_t::A}).value();
    CHECK(first == again);
    auto const more = graph->engines({HeurMode_t::A, HeurMode_t::FALLBACK}).value();
    REQUIRE(more.size() >= first.size());
    CHECK(std::equal(first.begin(), first.end(), more.begin()));
    std::set<std::string> names;
    for (auto const& engine : more) CHECK(names.insert(engine->config().name).second);
}

TEST_CASE("building a graph again takes a small part of the first time, and gives a plan of the user's own names",
          "[offline]") {
    if (!has_cudnn()) return;
    graph::Graph first, second;
    describe(first, {.rows = 224});
    describe(second, {.name = "queries", .rows = 224});
    double const cold = milliseconds_of_build(first), warm = milliseconds_of_build(second);
    CAPTURE(cold, warm);
    CHECK(warm * 5 < cold);
    std::string name, name_again;
    REQUIRE(first.get_plan_name(name).is_good());
    REQUIRE(second.get_plan_name(name_again).is_good());
    CHECK(name == name_again);
    std::vector<std::uint8_t> bytes_again;
    REQUIRE(second.serialize(bytes_again).is_good());
    CHECK(std::string(bytes_again.begin(), bytes_again.end()).find("queries") != std::string::npos);
}
