#include "graphs.h"

#include "nodes/schema/rule.h"

using namespace test;
using namespace cudnn_frontend::nodes::attention;

namespace {

template <class Change>
void expect_valid_attention(Change const& change) {
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        TestGraph graph = attention_graph(kind);
        change(graph);
        expect_valid(graph);
    }
}

}  // namespace

TEST_CASE("a valid graph has no findings: an empty one") { expect_valid(GraphSpec()); }

TEST_CASE("a valid graph has no findings: plain attention") {
    expect_valid_attention([](TestGraph&) {});
}

TEST_CASE("a valid graph has no findings: one kv head for all, in memory as {B, S, H, D}") {
    expect_valid_attention([](TestGraph& graph) {
        graph.resize(K, {2, 1, 8, 16});
        graph.resize(V, {2, 1, 8, 32});
        graph.at(Q).stride = {6 * 4 * 16, 16, 4 * 16, 1};
    });
}

TEST_CASE("a valid graph has no findings: one tensor as K and V, one entry for the whole batch") {
    expect_valid_attention([](TestGraph& graph) {
        graph.slot(V) = graph.slot(K);
        graph.at(K).stride[0] = 0;
        for (int const port : {O, DO}) {
            if (graph.slot(port) != kNoTensor && !graph.at(port).dim.empty()) graph.resize(port, {2, 4, 6, 16});
        }
    });
}

TEST_CASE("a valid graph has no findings: one query") {
    expect_valid_attention([](TestGraph& graph) {
        for (int const port : {Q, O, DO, Stats}) {
            if (graph.slot(port) == kNoTensor || graph.at(port).dim.empty()) continue;
            Dims dim = graph.at(port).dim;
            dim[2] = 1;
            graph.resize(port, dim);
        }
    });
}

TEST_CASE("a valid graph has no findings: a scale by value and a bias for each head") {
    expect_valid_attention([](TestGraph& graph) {
        graph.connect(AttnScale, {1, 1, 1, 1}, DataType_t::FLOAT).is_by_value = true;
        graph.connect(Bias, {1, 4, 1, 8}, DataType_t::HALF);
    });
}

TEST_CASE("a valid graph has no findings: lengths, a band and ALiBi") {
    expect_valid_attention([](TestGraph& graph) {
        AttentionFields& options = graph.attention_options();
        options.padding_mask = options.alibi_mask = true;
        options.diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
        options.left_bound = 1;
        options.right_bound = 0;
        graph.connect(SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
        graph.connect(SeqLenKv, {2, 1, 1, 1}, DataType_t::INT32);
    });
}

TEST_CASE("a valid graph has no findings: generated dropout with its dump") {
    expect_valid_attention([](TestGraph& graph) {
        graph.attention_options().dropout_probability = 0.1f;
        graph.connect(Seed, {1}, DataType_t::INT32).is_by_value = true;
        graph.connect(Offset, {1, 1, 1, 1}, DataType_t::INT64);
        graph.connect_output(RngDump);
    });
}

TEST_CASE("a valid graph has no findings: dropout by a mask") {
    expect_valid_attention([](TestGraph& graph) {
        graph.connect(DropoutMask, {1, 1, 6, 8}, DataType_t::HALF);
        graph.connect(DropoutScale, {1, 1, 1, 1}, DataType_t::FLOAT);
        if (graph.nodes[0].kind() == NodeKind::SdpaBackward) {
            graph.connect(DropoutScaleInv, {1, 1, 1, 1}, DataType_t::FLOAT);
        }
    });
}

TEST_CASE("a valid graph has no findings: statistics, and results in FLOAT") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.connect_output(Stats);
    graph.at(O).data_type = DataType_t::FLOAT;
    Validation const validation = validate(graph);
    INFO(validation.report);
    REQUIRE(validation.graph.has_value());
    GraphSpec const& spec = validation.graph->spec();
    CHECK(spec.tensor(spec.nodes[0], Stats)->data_type == DataType_t::FLOAT);
    CHECK(spec.tensor(spec.nodes[0], Stats)->dim == Dims{2, 4, 6, 1});
    CHECK(spec.tensor(spec.nodes[0], O)->dim == Dims{2, 4, 6, 32});
}

TEST_CASE("a valid graph has no findings: the gradient of a bias") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.connect(Bias, {1, 4, 6, 8}, DataType_t::FLOAT);
    graph.connect_output(DBias);
    graph.fields<SdpaBackwardFields>().deterministic = true;
    expect_valid(graph);
}

TEST_CASE("a valid graph has no findings: primitive nodes") {
    expect_valid(pointwise_graph(PointwiseMode_t::ADD));
    expect_valid(pointwise_graph(PointwiseMode_t::EXP));
    expect_valid(matmul_graph());
    expect_valid(reduction_graph());
    expect_valid(chain_graph());
    TestGraph graph = matmul_graph();
    for (int const port : {matmul::MOverride, matmul::NOverride, matmul::KOverride}) {
        graph.connect(port, {2, 1, 1, 1}, DataType_t::INT32);
    }
    expect_valid(graph);
}

TEST_CASE("a valid graph is complete: uids, types, dims, strides, and producers first") {
    TestGraph graph = chain_graph();
    std::swap(graph.nodes[0], graph.nodes[1]);
    graph.tensors[2].uid = 1;
    Validation const validation = validate(graph);
    REQUIRE(validation.graph.has_value());
    GraphSpec const& spec = validation.graph->spec();
    CHECK(spec.nodes[0].name == "exp");
    CHECK(*spec.tensors[0].uid != *spec.tensors[1].uid);
    CHECK(*spec.tensors[2].uid == 1);
    CHECK(spec.tensors[2].dim == Dims{2, 3});
    CHECK(spec.tensors[2].stride == Dims{3, 1});
    CHECK(spec.tensors[1].data_type == DataType_t::FLOAT);
}

TEST_CASE("five faults give five findings, in the order of the rules") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.at(Q).alignment = 3;                      // graph.c12
    graph.at(K).stride = {256, 128, 1, 8};          // sdpa_fwd.c02
    graph.resize(V, {2, 3, 8, 32});                 // sdpa_fwd.c04
    graph.attention_options().padding_mask = true;  // sdpa_fwd.c21
    graph.connect(SeqLenQ, {2, 1, 1, 1}, DataType_t::INT32);
    graph.attention_options().left_bound = -4;  // sdpa_fwd.c26
    Report const report = validate(graph).report;
    INFO(report);
    std::vector<std::string> rules;
    for (Finding const& finding : report.findings()) rules.push_back(finding.where.rule);
    CHECK(rules ==
          std::vector<std::string>{"graph.c12", "sdpa_fwd.c02", "sdpa_fwd.c04", "sdpa_fwd.c21", "sdpa_fwd.c26"});
    cudnn_frontend::error_t const error = report.to_error();
    CHECK(error.code == error_code_t::INVALID_VALUE);
    for (std::string const& rule : rules) CHECK(error.err_msg.find(rule) != std::string::npos);
}

TEST_CASE("faults of several nodes are all reported, each at its node") {
    TestGraph graph = chain_graph();
    for (Node& node : graph.nodes) std::get<PointwiseFields>(node.fields).axis = 0;
    Report const report = validate(graph).report;
    REQUIRE(report.findings().size() == 2);
    CHECK(report.findings()[0].where.node == "exp");
    CHECK(report.findings()[1].where.node == "neg");
}

TEST_CASE("validation twice gives the same report and leaves its argument alone") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.resize(K, {2, 3, 9, 16});
    std::string const first = validate(graph).report.to_text();
    CHECK(first == validate(graph).report.to_text());
    CHECK(graph.at(O).dim.empty());
}
