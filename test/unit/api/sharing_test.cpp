// One graph in many threads, and graphs that are copied, moved and assigned to themselves.
#include <cudnn_frontend/graph.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using namespace cudnn_frontend;
using test::small_graph;
using test::SmallGraph;

namespace {

// O for the same inputs at each call.
std::vector<float> run(graph::Graph const& graph) {
    std::vector<float> q(384), k(320), v(320), o(384, -1.0f);
    float value = 0.1f;
    for (auto* const buffer : {&q, &k, &v}) {
        for (float& element : *buffer)
            element = value = value * 1.7f - static_cast<float>(static_cast<int>(value * 1.7f));
    }
    std::unordered_map<std::int64_t, void*> pack{{1, q.data()}, {2, k.data()}, {3, v.data()}, {4, o.data()}};
    auto workspace = test::workspace_of(graph);
    auto const status = graph.execute(pack, workspace.data());
    INFO(status.err_msg);
    REQUIRE(status.is_good());
    return o;
}

struct Answers {
    std::string report, text, json;
    std::size_t key = 0;

    bool operator==(Answers const&) const = default;
};

Answers ask(graph::Graph const& graph) {
    Answers answers{graph.check().to_text(), graph.print(), "", 0};
    if (graph.serialize(answers.json).is_bad()) answers.json = "an error";
    // Not const, because programs override it, but it changes nothing.
    answers.key = const_cast<graph::Graph&>(graph).key();
    return answers;
}

}  // namespace

TEST_CASE("eight threads check, print, hash and serialize one graph at a time") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Answers const alone = ask(small.graph);
    CHECK(alone.report.empty());
    std::vector<Answers> answers(8);
    std::vector<std::thread> threads;
    for (Answers& mine : answers) {
        threads.emplace_back([&] {
            for (int round = 0; round < 20; ++round) mine = ask(small.graph);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (Answers const& mine : answers) CHECK(mine == alone);
}

TEST_CASE("a built graph runs after it was copied, moved and assigned, itself included") {
    SmallGraph small = small_graph();
    graph::Graph& original = small.graph;
    REQUIRE(original.build(Target::cpu()).is_good());
    std::vector<float> const expected = run(original);

    graph::Graph copy(original);
    CHECK(run(copy) == expected);
    graph::Graph assigned;
    assigned = copy;
    CHECK(run(assigned) == expected);

    graph::Graph& same = copy;
    copy = same;
    CHECK(run(copy) == expected);
    copy = std::move(same);
    CHECK(run(copy) == expected);

    graph::Graph moved(std::move(copy));
    CHECK(run(moved) == expected);
    assigned = std::move(moved);
    CHECK(run(assigned) == expected);
    CHECK(run(original) == expected);
}

TEST_CASE("what was moved from is an empty graph") {
    SmallGraph small = small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    graph::Graph const taken(std::move(small.graph));
    CHECK(small.graph.get_workspace_size() == 0);
    CHECK(small.graph.check().ok());
    std::unordered_map<std::int64_t, void*> const pack;
    CHECK(small.graph.execute(pack, nullptr).code == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(small.graph.validate().is_good());
}

TEST_CASE("nodes and results without a name have names to read") {
    SmallGraph small = small_graph(graph::SDPA_attributes().set_generate_stats(false));
    CHECK(small.o->get_name() == "::O");
    std::string text;
    REQUIRE(small.graph.print_operations(text).is_good());
    CHECK(text.find("# sdpa_forward::O\n") != std::string::npos);
    CHECK(text.find("::::") == std::string::npos);
}

namespace {

// O of a run whose pack is keyed by the tensors.
error_object run_by_tensors(SmallGraph const& small, graph::Graph const& graph, std::vector<float>& o) {
    std::vector<float> q(384, 0.5f), k(320, 0.25f), v(320, 2.0f);
    o.assign(384, -1.0f);
    std::unordered_map<test::Tensor_ptr, void*> pack{
        {small.q, q.data()}, {small.k, k.data()}, {small.v, v.data()}, {small.o, o.data()}};
    auto workspace = test::workspace_of(graph);
    return graph.execute(pack, workspace.data());
}

// A graph that lets a modifier do something to it.
template <class Act>
Report report_after(Act const& act) {
    SmallGraph small = small_graph();
    auto const modifier = [&](std::shared_ptr<graph::Graph> const& graph, test::Tensor_ptr const& scores) {
        act(*graph);
        return graph->pointwise(scores, scores, graph::Pointwise_attributes().set_mode(PointwiseMode_t::ADD));
    };
    auto const options = graph::SDPA_attributes().set_name("modified").set_generate_stats(false);
    auto const outputs =
        small.graph.sdpa(small.q, small.k, small.v, graph::SDPA_attributes(options).set_score_mod(modifier));
    outputs[0]->set_output(true);
    return small.graph.check();
}

}  // namespace

TEST_CASE("a copy is built in one thread while the original runs in another") {
    SmallGraph small = small_graph(graph::SDPA_attributes().set_generate_stats(false));
    REQUIRE(small.graph.build(Target::cpu(1)).is_good());
    std::vector<float> expected, o;
    REQUIRE(run_by_tensors(small, small.graph, expected).is_good());
    error_object built;
    std::thread builder([&] {
        for (int round = 0; round < 50 && built.is_good(); ++round) {
            graph::Graph copy(small.graph);
            built = copy.build(Target::cpu(1));
        }
    });
    int same = 0;
    for (int round = 0; round < 50; ++round) {
        same += run_by_tensors(small, small.graph, o).is_good() && o == expected ? 1 : 0;
    }
    builder.join();
    INFO(built.err_msg);
    CHECK(built.is_good());
    CHECK(same == 50);
}

TEST_CASE("copies of a graph that nobody has validated are built, asked and run in threads of their own") {
    for (int round = 0; round < 20; ++round) {
        SmallGraph small = small_graph(graph::SDPA_attributes().set_generate_stats(false));
        std::vector<graph::Graph> copies(4, small.graph);
        std::vector<std::vector<float>> results(copies.size());
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < copies.size(); ++i) {
            threads.emplace_back([&, i] {
                graph::Tensor_attributes found;
                bool const is_built = copies[i].build(Target::cpu(1)).is_good() && !copies[i].print().empty() &&
                                      copies[i].query_tensor_attributes_of_uid(1, found).is_good();
                if (!is_built || run_by_tensors(small, copies[i], results[i]).is_bad()) results[i].clear();
            });
        }
        for (std::thread& thread : threads) thread.join();
        for (auto const& result : results) {
            REQUIRE(result.size() == 384);
            CHECK(result == results.front());
        }
    }
}

TEST_CASE("sdpa_fwd.c43: a score modifier that replaces the graph that it was given is refused") {
    std::string json;
    std::vector<std::uint8_t> bytes;
    SmallGraph stored = small_graph();
    REQUIRE(stored.graph.build(Target::cpu()).is_good());
    REQUIRE(stored.graph.serialize(json).is_good());
    REQUIRE(stored.graph.serialize(bytes).is_good());
    error_object read;
    Report const reports[] = {
        report_after([](graph::Graph& graph) { graph = graph::Graph(); }),
        report_after([](graph::Graph& graph) { graph::Graph const taken = std::move(graph); }),
        report_after([&](graph::Graph& graph) { read = graph.deserialize(json); }),
        report_after([&](graph::Graph& graph) { read = graph.deserialize(nullptr, bytes); }),
    };
    for (Report const& report : reports) {
        REQUIRE(report.findings().size() == 1);
        CHECK(
            report.to_text() ==
            "[sdpa_fwd.c43] node 'modified', tensor 'score_mod': found a graph assigned to, moved from or "
            "deserialized by the callable, for set_score_mod(); expected nodes added to the graph that the callable is "
            "given. Try: correct the callable; score_modifiers.h lists the arguments of ready modifiers.\n");
    }
    CHECK(read.code == error_code_t::INVALID_VALUE);
    CHECK(read.err_msg ==
          "a score modifier deserializes the graph that it was given; add nodes to it, or read into another graph");
}

TEST_CASE("a copy that a score modifier makes of its graph can be replaced") {
    graph::Graph copy;
    CHECK(report_after([&](graph::Graph& graph) {
              copy = graph;
              copy = graph::Graph();
              copy = graph;
          }).ok());
    copy = graph::Graph();
    CHECK(copy.check().ok());
}
