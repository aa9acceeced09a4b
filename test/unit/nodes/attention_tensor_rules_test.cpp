#include "graphs.h"

using namespace test;
using namespace cudnn_frontend::nodes::attention;
using enum cudnn_frontend::error_code_t;

TEST_CASE("sdpa_fwd.c01 sdpa_bwd.c01: a tensor without four dims") {
    expect_in_attention("c01",
                        [](TestGraph& graph) {
                            graph.connect(Bias, {4, 6, 8}, DataType_t::FLOAT);
                        },
                        {ATTRIBUTE_NOT_SET, "attention", "bias", "bias with 3 dims [4, 6, 8]",
                         "4 dims, in the order batch, heads, rows, columns",
                         "call set_dim() with 4 sizes, 1 for what the tensor does not have"});
}

TEST_CASE("sdpa_fwd.c01 sdpa_bwd.c01: each port with dims is looked at") {
    auto const kind = GENERATE(NodeKind::SdpaForward, NodeKind::SdpaBackward);
    TestGraph const valid = attention_graph(kind);
    for (int port = 0; port < PortCount; ++port) {
        if (valid.nodes[0].ports[static_cast<std::size_t>(port)] == kNoTensor) continue;
        TestGraph graph = valid;
        graph.resize(port, {6, 16});
        Report const report = validate(graph).report;
        INFO(report);
        REQUIRE_FALSE(report.ok());
        CHECK(report.findings()[0].where.rule == (kind == NodeKind::SdpaForward ? "sdpa_fwd.c01" : "sdpa_bwd.c01"));
        CHECK(report.findings()[0].where.tensor == port_name(kind, port));
    }
}

TEST_CASE("sdpa_fwd.c02 sdpa_bwd.c02: a stride of the last dim that is not 1") {
    expect_in_attention("c02",
                        [](TestGraph& graph) {
                            graph.at(K).stride = {256, 128, 1, 8};
                        },
                        {GRAPH_NOT_SUPPORTED, "attention", "K", "K with strides [256, 128, 1, 8]",
                         "1 as the stride of the last dim, the head dim",
                         "copy it, so that the stride of the last dim is 1; K is not transposed here"});
}

TEST_CASE("sdpa_fwd.c02 sdpa_bwd.c02: each tensor with heads is looked at") {
    auto const kind = GENERATE(NodeKind::SdpaForward, NodeKind::SdpaBackward);
    TestGraph const valid = attention_graph(kind);
    for (int const port : {Q, K, V, O, DO, DQ, DK, DV}) {
        if (valid.nodes[0].ports[static_cast<std::size_t>(port)] == kNoTensor) continue;
        TestGraph graph = valid;
        static_cast<GraphSpec&>(graph) = validate(valid).graph->spec();  // with the strides that are inferred
        graph.at(port).stride[2] = 1, graph.at(port).stride[3] = graph.at(port).dim[2];
        Report const report = validate(graph).report;
        INFO(report);
        REQUIRE(report.findings().size() == 1);
        CHECK(report.findings()[0].where.rule == (kind == NodeKind::SdpaForward ? "sdpa_fwd.c02" : "sdpa_bwd.c02"));
        CHECK(report.findings()[0].where.tensor == port_name(kind, port));
    }
}

TEST_CASE("sdpa_fwd.c02: a head dim of 1 may have any stride") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.resize(V, {2, 4, 8, 1});
    graph.at(V).stride = {100, 25, 3, 7};
    expect_valid(graph);
}

TEST_CASE("sdpa_fwd.c03 sdpa_bwd.c03: another batch size in V") {
    std::string const fix = "give Q, K and V one batch size; a batch stride of 0 shares one entry among all";
    Expected expected = {INVALID_VALUE, "attention", "V", "V with batch size 1", "batch size 2", fix};
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        bool const is_forward = kind == NodeKind::SdpaForward;
        TestGraph graph = attention_graph(kind);
        graph.resize(V, {1, 4, 8, 32});
        expected.fix = fix;
        if (is_forward) {
            expected.fix = fix + "; or, for a container of pages, call set_paged_attention_k_table() or _v_table()";
        }
        expect_finding(graph, is_forward ? "sdpa_fwd.c03" : "sdpa_bwd.c03", expected);
    }
}

TEST_CASE("sdpa_fwd.c04 sdpa_bwd.c04: key heads that do not divide the query heads") {
    expect_in_attention(
        "c04",
        [](TestGraph& graph) {
            graph.resize(K, {2, 3, 8, 16});
        },
        {GRAPH_NOT_SUPPORTED, "attention", "K", "3 heads in K for 4 heads in Q",
         "a number of heads that divides 4: 1, 2 or 4", "give K as many heads as Q, or 1 head for all of them"});
}

TEST_CASE("sdpa_fwd.c04 sdpa_bwd.c04: more value heads than query heads") {
    expect_in_attention(
        "c04",
        [](TestGraph& graph) {
            graph.resize(V, {2, 8, 8, 32});
        },
        {GRAPH_NOT_SUPPORTED, "attention", "V", "8 heads in V for 4 heads in Q",
         "a number of heads that divides 4: 1, 2 or 4", "give V as many heads as Q, or 1 head for all of them"});
}

TEST_CASE("sdpa_fwd.c05 sdpa_bwd.c05: another head dim in K") {
    expect_in_attention("c05",
                        [](TestGraph& graph) {
                            graph.resize(K, {2, 2, 8, 24});
                        },
                        {INVALID_VALUE, "attention", "K", "K with head dim 24", "head dim 16",
                         "give Q and K one head dim; only V may have another"});
}

TEST_CASE("sdpa_fwd.c06 sdpa_bwd.c06: another length in V") {
    expect_in_attention("c06",
                        [](TestGraph& graph) {
                            graph.resize(V, {2, 4, 9, 32});
                        },
                        {INVALID_VALUE, "attention", "V", "V with length 9", "length 8", "give K and V one length"});
}

TEST_CASE("sdpa_fwd.c07 sdpa_bwd.c07: dims of O that do not follow") {
    expect_in_attention(
        "c07",
        [](TestGraph& graph) {
            graph.resize(O, {2, 4, 6, 16});
        },
        {INVALID_VALUE, "attention", "O", "O with dims [2, 4, 6, 16]", "dims [2, 4, 6, 32], {B, Hq, Sq, Dv} of Q and V",
         "call set_dim() on O with these dims, or change what they follow from"});
}

TEST_CASE("sdpa_bwd.c07: dims of dO that do not follow") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.resize(DO, {2, 4, 8, 32});
    expect_finding(graph, "sdpa_bwd.c07",
                   {INVALID_VALUE, "attention", "dO", "dO with dims [2, 4, 8, 32]",
                    "dims [2, 4, 6, 32], {B, Hq, Sq, Dv} of Q and V",
                    "call set_dim() on dO with these dims, or change what they follow from"});
}

TEST_CASE("sdpa_fwd.c08 sdpa_bwd.c08: dims of Stats that do not follow") {
    auto const break_graph = [](TestGraph& graph) {
        if (auto* const forward = std::get_if<SdpaForwardFields>(&graph.nodes[0].fields)) {
            forward->generate_stats = true;
            graph.connect_output(Stats);
        }
        graph.resize(Stats, {2, 4, 1, 6});
        graph.at(Stats).data_type = DataType_t::FLOAT;
    };
    expect_in_attention(
        "c08", break_graph,
        {INVALID_VALUE, "attention", "Stats", "Stats with dims [2, 4, 1, 6]", "dims [2, 4, 6, 1], {B, Hq, Sq, 1} of Q",
         "call set_dim() on Stats with these dims, or change what they follow from"});
}

TEST_CASE("sdpa_fwd.c09 sdpa_bwd.c09: a sequence longer than 2^28") {
    std::int64_t const length = (std::int64_t{1} << 28) + 1;
    auto const break_graph = [&](TestGraph& graph) {
        graph.resize(K, {2, 2, length, 16});
        graph.resize(V, {2, 4, length, 32});
    };
    expect_in_attention("c09", break_graph,
                        {GRAPH_NOT_SUPPORTED, "attention", "K", "K with length 268435457",
                         "a length of at most 268435456", "split the sequence over several graphs"});
}

TEST_CASE("sdpa_fwd.c10 sdpa_bwd.c10: more than 2^60 scores") {
    std::int64_t const length = std::int64_t{1} << 28;
    auto const break_graph = [&](TestGraph& graph) {
        graph.resize(Q, {2, 16, length, 16});
        graph.resize(K, {2, 2, length, 16});
        graph.resize(V, {2, 4, length, 32});
        graph.resize(O, {2, 16, length, 32});
        if (graph.nodes[0].kind() == NodeKind::SdpaForward) return;
        graph.resize(DO, {2, 16, length, 32});
        graph.resize(Stats, {2, 16, length, 1});
    };
    expect_in_attention("c10", break_graph,
                        {GRAPH_NOT_SUPPORTED, "attention", "", "scores of dims [2, 16, 268435456, 268435456]",
                         "at most 2^60 elements", "split the batch, the heads or the sequences over several graphs"});
}

TEST_CASE("sdpa_fwd.c11 sdpa_bwd.c11: a type that attention does not take") {
    auto const break_graph = [](TestGraph& graph) {
        for (int const port : {Q, K, V}) graph.at(port).data_type = DataType_t::DOUBLE;
    };
    expect_in_attention("c11", break_graph,
                        {GRAPH_NOT_SUPPORTED, "attention", "Q", "Q of type DOUBLE", "type HALF, BFLOAT16 or FLOAT",
                         "convert Q, K and V to one of these types"});
}

TEST_CASE("sdpa_fwd.c11 sdpa_bwd.c11: K of another type than Q") {
    expect_in_attention("c11", [](TestGraph& graph) { graph.at(K).data_type = DataType_t::BFLOAT16; },
                        {GRAPH_NOT_SUPPORTED, "attention", "K", "K of type BFLOAT16", "type HALF",
                         "call set_data_type(DataType_t::HALF)"});
}

TEST_CASE("sdpa_fwd.c11: where all tensors have 8 bits, that is the one fault") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    for (int const port : {Q, K, V, O}) graph.at(port).data_type = DataType_t::FP8_E4M3;
    Report const report = validate(graph).report;
    INFO(report);
    REQUIRE(report.findings().size() == 1);
    CHECK(report.findings()[0].where.rule == "sdpa_fwd.c11");
}

TEST_CASE("sdpa_fwd.c12 sdpa_bwd.c12: O of another type") {
    expect_in_attention("c12", [](TestGraph& graph) { graph.at(O).data_type = DataType_t::FP8_E4M3; },
                        {GRAPH_NOT_SUPPORTED, "attention", "O", "O of type FP8_E4M3", "type HALF, BFLOAT16 or FLOAT",
                         "call set_data_type() with one of these"});
}

TEST_CASE("sdpa_bwd.c12: a gradient of another type") {
    auto const port = GENERATE(as<int>(), DO, DQ, DK, DV);
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.at(port).data_type = DataType_t::DOUBLE;
    std::string const name = port_name(NodeKind::SdpaBackward, port);
    expect_finding(graph, "sdpa_bwd.c12",
                   {GRAPH_NOT_SUPPORTED, "attention", name, name + " of type DOUBLE", "type HALF, BFLOAT16 or FLOAT",
                    "call set_data_type() with one of these"});
    graph.at(port).data_type = DataType_t::FLOAT;
    expect_valid(graph);
}

TEST_CASE("sdpa_fwd.c13: Stats of a type to which no number is rounded") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.connect_output(Stats).data_type = DataType_t::INT32;
    expect_finding(graph, "sdpa_fwd.c13",
                   {GRAPH_NOT_SUPPORTED, "attention", "Stats", "Stats of type INT32", "type HALF, BFLOAT16 or FLOAT",
                    "call set_data_type(DataType_t::FLOAT)"});
    for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16}) {
        graph.at(Stats).data_type = type;
        expect_valid(graph);
    }
}

TEST_CASE("sdpa_bwd.c13: Stats of another type than FLOAT") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.at(Stats).data_type = DataType_t::HALF;
    expect_finding(graph, "sdpa_bwd.c13",
                   {GRAPH_NOT_SUPPORTED, "attention", "Stats", "Stats of type HALF", "type FLOAT",
                    "call set_data_type(DataType_t::FLOAT)"});
}

TEST_CASE("sdpa_fwd.c14 sdpa_bwd.c14: a compute type other than FLOAT") {
    expect_in_attention("c14", [](TestGraph& graph) { graph.compute_data_type = DataType_t::HALF; },
                        {GRAPH_NOT_SUPPORTED, "attention", "", "compute data type HALF", "compute data type FLOAT",
                         "call set_compute_data_type(DataType_t::FLOAT)"});
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.nodes[0].compute_data_type = DataType_t::FLOAT;
    expect_valid(graph);
}

TEST_CASE("sdpa_fwd.c15 sdpa_bwd.c15: a tensor passed by value") {
    auto const break_graph = [](TestGraph& graph) {
        graph.connect(Bias, {1, 1, 1, 1}, DataType_t::FLOAT).is_by_value = true;
    };
    expect_in_attention("c15", break_graph,
                        {GRAPH_NOT_SUPPORTED, "attention", "bias", "bias passed by value", "a pointer to its elements",
                         "call set_is_pass_by_value(false)"});
}

TEST_CASE("sdpa_fwd.c39: a Stats tensor that generate_stats does not ask for") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.connect_output(Stats);
    expect_finding(graph, "sdpa_fwd.c39",
                   {ATTRIBUTE_NOT_SET, "attention", "Stats", "a Stats tensor and generate_stats off",
                    "a Stats tensor exactly where generate_stats is on", "call set_generate_stats(true)"});
}

TEST_CASE("sdpa_fwd.c39: generate_stats without a Stats tensor") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.fields<SdpaForwardFields>().generate_stats = true;
    expect_finding(graph, "sdpa_fwd.c39",
                   {ATTRIBUTE_NOT_SET, "attention", "Stats", "generate_stats on and no Stats tensor",
                    "a Stats tensor exactly where generate_stats is on", "connect a tensor to Stats"});
}

TEST_CASE("sdpa_bwd.c39: a gradient with other dims than its tensor") {
    struct Case {
        int gradient;
        Dims wanted;
        char const* source;
    };
    auto const& [gradient, wanted, source] =
        GENERATE(Case{DQ, {2, 4, 6, 16}, "Q"}, Case{DK, {2, 2, 8, 16}, "K"}, Case{DV, {2, 4, 8, 32}, "V"});
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.resize(gradient, {2, 1, 8, 16});
    std::string const name = port_name(NodeKind::SdpaBackward, gradient);
    expect_finding(graph, "sdpa_bwd.c39",
                   {INVALID_VALUE, "attention", name, name + " with dims [2, 1, 8, 16]",
                    "dims " + core::to_string(wanted) + ", those of " + source,
                    "call set_dim() on " + name + " with these dims, or change what they follow from"});
}
