// How findings are put: one for the tensors that share a fault.
#include "graphs.h"

using namespace test;
using namespace cudnn_frontend::nodes::attention;
using enum cudnn_frontend::error_code_t;

namespace {

using Names = std::vector<std::string>;

Finding only_finding(GraphSpec const& graph) {
    Report const report = validate(graph).report;
    INFO(report);
    REQUIRE(report.findings().size() == 1);
    return report.findings()[0];
}

}  // namespace

TEST_CASE("sdpa_fwd.c01: one finding for all tensors of a node with the same fault") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    for (int const port : {Q, K, V}) graph.resize(port, {8, 6, 16});
    Finding const finding = only_finding(graph);
    CHECK(finding.where.rule == "sdpa_fwd.c01");
    CHECK(finding.where.tensor == "Q");
    CHECK(finding.others == Names{"K", "V"});
    CHECK(finding.found == "Q, K and V with 3 dims [8, 6, 16]");
}

TEST_CASE("sdpa_fwd.c11: tensors are named in place, ports in the text") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.at(K).name = "keys", graph.at(V).name = "values";
    for (int const port : {K, V}) graph.at(port).data_type = DataType_t::BFLOAT16;
    Finding const finding = only_finding(graph);
    CHECK(finding.where.tensor == "keys");
    CHECK(finding.others == Names{"values"});
    CHECK(finding.found == "K and V of type BFLOAT16");
}

TEST_CASE("sdpa_fwd.c11: one tensor at two ports is named once") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.disconnect(V);
    graph.slot(V) = graph.slot(K);
    graph.at(K).data_type = DataType_t::BFLOAT16;
    Finding const finding = only_finding(graph);
    CHECK(finding.where.tensor == "K");
    CHECK(finding.others.empty());
    CHECK(finding.found == "K and V of type BFLOAT16");
}

TEST_CASE("graph.c03: one finding for all tensors of the graph that lack a type") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.io_data_type = DataType_t::NOT_SET;
    for (int const port : {Q, K, V}) graph.at(port).data_type = DataType_t::NOT_SET;
    Finding const finding = only_finding(graph);
    CHECK(finding.where.tensor == "Q");
    CHECK(finding.others == Names{"K", "V", "O"});
    CHECK(finding.found == "no data type on a real tensor");
}

TEST_CASE("sdpa_fwd.c04: faults that differ, or of different nodes, stay apart") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.resize(K, {2, 3, 8, 16});
    graph.resize(V, {2, 8, 8, 32});
    CHECK(validate(graph).report.findings().size() == 2);
    graph = attention_graph(NodeKind::SdpaForward);
    graph.resize(K, {2, 3, 8, 16});
    Node second = graph.nodes[0];
    second.name = "second";
    second.ports[O] = graph.add("other O", {}, DataType_t::NOT_SET);
    graph.nodes.push_back(second);
    Report const report = validate(graph).report;
    REQUIRE(report.findings().size() == 2);
    CHECK(report.findings()[0].where.node == "attention");
    CHECK(report.findings()[1].where.node == "second");
}
