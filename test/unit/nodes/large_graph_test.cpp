// Graphs of many nodes: the time to check them grows with their number, not with its square.
#include "graphs.h"

#include <algorithm>
#include <ctime>

using namespace test;

namespace {

constexpr int kNodes = 20000;

// in -> neg -> neg -> ... -> out, without names.
GraphSpec long_chain() {
    TestGraph graph;
    graph.io_data_type = graph.intermediate_data_type = graph.compute_data_type = DataType_t::FLOAT;
    TensorId from = graph.add("", {2, 3}, DataType_t::FLOAT);
    for (int i = 0; i < kNodes; ++i) {
        TensorId const to = graph.add("", {}, DataType_t::NOT_SET);
        graph.tensors.back().is_virtual = i + 1 < kNodes;
        Node& node = graph.add_node(NodeKind::Pointwise, "");
        std::get<PointwiseFields>(node.fields).mode = PointwiseMode_t::NEG;
        node.ports[pointwise::In0] = from;
        node.ports[pointwise::Out0] = to;
        from = to;
    }
    return graph;
}

// A time limit that any machine keeps to, also with sanitizers, but quadratic work would not. It limits this process's
// own time: others may use the machine meanwhile.
Validation validate_in_time(GraphSpec const& graph) {
    std::clock_t const begin = std::clock();
    Validation validation = validate(graph);
    CHECK(static_cast<double>(std::clock() - begin) < 3.0 * CLOCKS_PER_SEC);
    return validation;
}

}  // namespace

TEST_CASE("a graph of many nodes is checked in time") {
    GraphSpec graph = long_chain();
    CHECK(validate_in_time(graph).report.ok());
    std::reverse(graph.nodes.begin(), graph.nodes.end());
    CHECK(validate_in_time(graph).report.ok());
}

TEST_CASE("a modifier of many nodes is found in time") {
    using namespace attention;
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.intermediate_data_type = graph.compute_data_type = DataType_t::FLOAT;
    graph.connect(Score, {}, DataType_t::NOT_SET).is_virtual = true;
    graph.connect(ScoreMod, {}, DataType_t::NOT_SET).is_virtual = true;
    TensorId from = graph.slot(Score);
    for (int i = 0; i < kNodes; ++i) {
        bool const is_last = i + 1 == kNodes;
        TensorId const to = is_last ? graph.slot(ScoreMod) : graph.add("", {}, DataType_t::NOT_SET);
        graph.tensors[static_cast<std::size_t>(to)].is_virtual = true;
        Node& node = graph.add_node(NodeKind::Pointwise, "");
        std::get<PointwiseFields>(node.fields).mode = PointwiseMode_t::NEG;
        node.ports[pointwise::In0] = from;
        node.ports[pointwise::Out0] = to;
        from = to;
    }
    std::reverse(graph.nodes.begin() + 1, graph.nodes.end());
    Validation const validation = validate_in_time(graph);
    REQUIRE(validation.report.ok());
    CHECK(validation.graph->spec().nodes[0].modifier.size() == kNodes);
}

TEST_CASE("many findings at tensors without names are reported in time, and one error stays short") {
    GraphSpec graph = long_chain();
    std::int64_t odd = 1;
    for (TensorSpec& tensor : graph.tensors) tensor.alignment = odd += 2;
    Report const report = validate_in_time(graph).report;
    CHECK(report.findings().size() == graph.tensors.size());
    CHECK(report.findings().back().where.tensor == "POINTWISE 19999.OUT_0");
    std::string const text = report.to_error().err_msg;
    CHECK(std::count(text.begin(), text.end(), '\n') == 101);
    CHECK(text.ends_with("\nand 19901 more, which Graph::check() lists"));
}

TEST_CASE("one fault of many tensors is one finding, in time, and its text stays short") {
    GraphSpec graph = long_chain();
    for (TensorSpec& tensor : graph.tensors) tensor.alignment = 3;
    Report const report = validate_in_time(graph).report;
    REQUIRE(report.findings().size() == 1);
    CHECK(report.findings()[0].others.size() == graph.tensors.size() - 1);
    std::string const text = report.to_error().err_msg;
    CHECK(text.find("'POINTWISE 14.OUT_0' and 19985 more: found an alignment of 3 bytes") != std::string::npos);
    CHECK(text.size() < 1000);
}

TEST_CASE("graph.c25: a cycle of many nodes is found in time and told in short") {
    for (bool const is_reversed : {false, true}) {
        GraphSpec graph = long_chain();
        graph.nodes[0].ports[pointwise::In0] = graph.nodes[kNodes - 1].ports[pointwise::Out0];
        graph.tensors.back().dim = {2, 3};
        if (is_reversed) std::reverse(graph.nodes.begin(), graph.nodes.end());
        Report const report = validate_in_time(graph).report;
        REQUIRE(report.findings().size() == 1);
        CHECK(report.findings()[0].where.rule == "graph.c25");
        std::string const found = report.findings()[0].found;
        CHECK(found.starts_with("nodes that read each other's results: POINTWISE 0 <- POINTWISE "));
        CHECK(found.ends_with(" <- and 19985 more"));
    }
}

TEST_CASE("many attention nodes that dump their dropout mask are checked in time") {
    GraphSpec const one = attention_graph(NodeKind::SdpaForward);
    GraphSpec graph = one;
    for (int copy = 1; copy < kNodes / 10; ++copy) {
        Node node = one.nodes[0];
        for (int const port : {attention::O, attention::RngDump}) {
            node.ports[static_cast<std::size_t>(port)] = static_cast<TensorId>(graph.tensors.size());
            graph.tensors.push_back(one.tensors.back());
        }
        graph.nodes.push_back(std::move(node));
    }
    Report const report = validate_in_time(graph).report;
    REQUIRE_FALSE(report.ok());
    CHECK(report.findings()[0].where.rule == "sdpa_fwd.c35");
}
