// The form of findings: one for the tensors that share a fault, with a fix, and a hint about the order of dims.
#include "graphs.h"
#include "nodes/schema/wording.h"

using namespace test;
using namespace cudnn_frontend::nodes::attention;
using enum cudnn_frontend::error_code_t;

namespace {

using Names = std::vector<std::string>;

// Rows before heads, a common mistake.
void exchange(TestGraph& graph, std::initializer_list<int> ports) {
    for (int const port : ports) {
        TensorSpec& tensor = graph.at(port);
        std::swap(tensor.dim[1], tensor.dim[2]);
        tensor.stride = core::packed_strides(tensor.dim);
    }
}

std::string hint_for(std::string const& tensors) {
    return "if dims 1 and 2 of " + tensors +
           " are rows and heads, swap them and their strides: dims are always batch, heads, rows, columns; "
           "strides give the order in memory";
}

Finding only_finding(GraphSpec const& graph) {
    Report const report = validate(graph).report;
    INFO(report);
    REQUIRE(report.findings().size() == 1);
    return report.findings()[0];
}

// Only the first finding's fix ends with the hint.
void expect_hint(GraphSpec const& graph, std::string const& hint) {
    Report const report = validate(graph).report;
    INFO(report);
    REQUIRE_FALSE(report.ok());
    CHECK(report.findings()[0].fix.ends_with("; or, " + hint));
    std::string const text = report.to_text();
    CHECK(text.find("dims 1 and 2 of") == text.rfind("dims 1 and 2 of"));
}

void expect_no_hint(GraphSpec const& graph) {
    Report const report = validate(graph).report;
    INFO(report);
    CHECK_FALSE(report.ok());
    CHECK(report.to_text().find("dims 1 and 2 of") == std::string::npos);
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

TEST_CASE("sdpa_fwd.c04: the numbers of heads that would do are listed") {
    auto const needed = [](std::int64_t heads) {
        TestGraph graph = attention_graph(NodeKind::SdpaForward);
        graph.resize(Q, {2, heads, 7, 16});
        for (int const port : {K, V}) graph.resize(port, {2, heads + 1, 11, graph.at(port).dim[3]});
        Finding const finding = only_finding(graph);
        CHECK(finding.found == text(heads + 1, " heads in K and V for ", heads, " heads in Q"));
        CHECK(finding.fix == "give K and V as many heads as Q, or 1 head for all of them");
        return finding.needed;
    };
    CHECK(needed(12) == "a number of heads that divides 12: 1, 2, 3, 4, 6 or 12");
    CHECK(needed(1) == "a number of heads that divides 1: 1");
    CHECK(needed(2520) ==
          "a number of heads that divides 2520: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 18, 20, 21 or 32 more");
    CHECK(needed(5000) == "a number of heads that divides 5000");
}

TEST_CASE("graph.c01: backward without Stats says how forward gives it") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.disconnect(Stats);
    expect_finding(
        graph, "graph.c01",
        {ATTRIBUTE_NOT_SET, "attention", "Stats", "no tensor (null)", "the tensor Stats, the forward log-sum-exp",
         "call set_generate_stats(true) on the attributes of the forward attention, and pass the Stats that "
         "sdpa() returns then"});
}

TEST_CASE("sdpa_fwd.c04 sdpa_bwd.c04: rows before heads in all tensors") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    exchange(graph, {Q, K, V});
    expect_hint(graph, hint_for("Q, K and V"));
    graph = attention_graph(NodeKind::SdpaBackward);
    exchange(graph, {Q, K, V, O, DO, Stats});
    expect_hint(graph, hint_for("Q, K, V, O, dO and Stats"));
    graph = attention_graph(NodeKind::SdpaBackward);
    exchange(graph, {Q, K, V, O, DO});
    expect_hint(graph, hint_for("Q, K, V, O and dO"));
}

TEST_CASE("sdpa_fwd.c04 sdpa_fwd.c06 sdpa_fwd.c07: rows before heads in some tensors") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    exchange(graph, {K, V});
    expect_hint(graph, hint_for("K and V"));
    graph = attention_graph(NodeKind::SdpaForward);
    exchange(graph, {Q});
    expect_hint(graph, hint_for("Q"));
    graph = attention_graph(NodeKind::SdpaForward);
    exchange(graph, {V});
    expect_hint(graph, hint_for("V"));
    graph = attention_graph(NodeKind::SdpaForward);
    graph.resize(O, {2, 6, 4, 32});
    expect_hint(graph, hint_for("O"));
}

TEST_CASE("sdpa_fwd.c04: the order of dims is no matter where exchanging them mends nothing, or not all") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.resize(K, {2, 3, 8, 16});
    expect_no_hint(graph);
    graph = attention_graph(NodeKind::SdpaForward);
    exchange(graph, {Q, K, V});
    graph.at(Q).alignment = 3;
    expect_no_hint(graph);
    graph = attention_graph(NodeKind::SdpaForward);
    exchange(graph, {Q, K, V});
    for (int i = 0; i < 64; ++i) {
        Node copy = graph.nodes[0];
        copy.ports[O] = graph.add("another O", {}, DataType_t::NOT_SET);
        graph.nodes.push_back(copy);
    }
    expect_no_hint(graph);  // too many validations would take too long
}
