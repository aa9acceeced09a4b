// Rules about the sink token and about softmax's outputs besides the log-sum-exp.
#include "graphs.h"

using namespace test;
using namespace attention;
using enum error_code_t;

namespace {

constexpr NodeKind kForward = NodeKind::SdpaForward, kBackward = NodeKind::SdpaBackward;

}  // namespace

TEST_CASE("a sink, its gradient, Max and Sum_exp are valid, and what is left out is inferred") {
    for (DataType_t const type : {DataType_t::FLOAT, DataType_t::HALF}) {
        TestGraph forward = attention_graph(kForward), backward = attention_graph(kBackward);
        forward.connect(SinkToken, {1, 4, 1, 1}, type);
        forward.connect_output(Max);
        forward.connect_output(SumExp);
        backward.connect(SinkToken, {1, 4, 1, 1}, type);
        backward.connect_output(DSinkToken);
        auto const first = validate(forward), second = validate(backward);
        REQUIRE(first.report.to_text() == "");
        REQUIRE(second.report.to_text() == "");
        GraphSpec const &there = first.graph->spec(), &back = second.graph->spec();
        for (int const port : {Max, SumExp}) {
            CHECK(there.tensor(there.nodes[0], port)->dim == Dims{2, 4, 6, 1});
            CHECK(there.tensor(there.nodes[0], port)->data_type == DataType_t::FLOAT);
        }
        CHECK(back.tensor(back.nodes[0], DSinkToken)->dim == Dims{1, 4, 1, 1});
        CHECK(back.tensor(back.nodes[0], DSinkToken)->data_type == DataType_t::FLOAT);
    }
}

TEST_CASE("sdpa_fwd.c56 sdpa_bwd.c51: a sink token with another number of heads") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = attention_graph(kind);
        graph.connect(SinkToken, {1, 2, 1, 1}, DataType_t::FLOAT);
        expect_finding(graph, kind == kForward ? "sdpa_fwd.c56" : "sdpa_bwd.c51",
                       {INVALID_VALUE, "attention", "sink_token", "sink_token with dims [1, 2, 1, 1]",
                        "dims [1, 4, 1, 1], one number for each head of Q",
                        "call set_dim() on sink_token with these dims, or change what they follow from"});
    }
}

TEST_CASE("sdpa_fwd.c57 sdpa_bwd.c52: a sink token of another type") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = attention_graph(kind);
        graph.connect(SinkToken, {1, 4, 1, 1}, DataType_t::INT32);
        expect_finding(graph, kind == kForward ? "sdpa_fwd.c57" : "sdpa_bwd.c52",
                       {GRAPH_NOT_SUPPORTED, "attention", "sink_token", "sink_token of type INT32",
                        "type HALF, BFLOAT16 or FLOAT", "call set_data_type() with one of these"});
    }
}

TEST_CASE("sdpa_fwd.c15 sdpa_bwd.c15: a sink token by value") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = attention_graph(kind);
        graph.connect(SinkToken, {1, 4, 1, 1}, DataType_t::FLOAT).is_by_value = true;
        CHECK(validate(graph).report.to_text().find("found sink_token passed by value") != std::string::npos);
    }
}

TEST_CASE("sdpa_fwd.c58: Max and Sum_exp with other dims") {
    for (int const port : {Max, SumExp}) {
        TestGraph graph = attention_graph(kForward);
        graph.connect(port, {2, 4, 6, 8}, DataType_t::FLOAT);
        std::string const name = port == Max ? "Max" : "Sum_exp";
        expect_finding(graph, "sdpa_fwd.c58",
                       {INVALID_VALUE, "attention", name, name + " with dims [2, 4, 6, 8]",
                        "dims [2, 4, 6, 1], {B, Hq, Sq, 1} of Q",
                        "call set_dim() on " + name + " with these dims, or change what they follow from"});
    }
}

TEST_CASE("sdpa_fwd.c59: Max and Sum_exp of another type") {
    for (int const port : {Max, SumExp}) {
        TestGraph graph = attention_graph(kForward);
        graph.connect(port, {2, 4, 6, 1}, DataType_t::HALF);
        std::string const name = port == Max ? "Max" : "Sum_exp";
        expect_finding(graph, "sdpa_fwd.c59",
                       {GRAPH_NOT_SUPPORTED, "attention", name, name + " of type HALF", "type FLOAT",
                        "call set_data_type(DataType_t::FLOAT)"});
    }
}

TEST_CASE("sdpa_bwd.c53: the gradient of a sink token that is not there") {
    TestGraph graph = attention_graph(kBackward);
    graph.connect(DSinkToken, {1, 4, 1, 1}, DataType_t::FLOAT);
    expect_finding(graph, "sdpa_bwd.c53",
                   {ATTRIBUTE_NOT_SET, "attention", "dSink_token", "dSink_token without a sink token",
                    "the sink token that it is the gradient of",
                    "call set_sink_token() as in the forward graph, or leave out set_dsink_token()"});
}

TEST_CASE("sdpa_bwd.c54: the gradient of a sink token with other dims") {
    TestGraph graph = attention_graph(kBackward);
    graph.connect(SinkToken, {1, 4, 1, 1}, DataType_t::FLOAT);
    graph.connect(DSinkToken, {2, 4, 1, 1}, DataType_t::FLOAT);
    expect_finding(graph, "sdpa_bwd.c54",
                   {INVALID_VALUE, "attention", "dSink_token", "dSink_token with dims [2, 4, 1, 1]",
                    "dims [1, 4, 1, 1], one number for each head of Q",
                    "call set_dim() on dSink_token with these dims, or change what they follow from"});
}

TEST_CASE("sdpa_bwd.c55: the gradient of a sink token of another type") {
    TestGraph graph = attention_graph(kBackward);
    graph.connect(SinkToken, {1, 4, 1, 1}, DataType_t::FLOAT);
    graph.connect(DSinkToken, {1, 4, 1, 1}, DataType_t::HALF);
    expect_finding(graph, "sdpa_bwd.c55",
                   {GRAPH_NOT_SUPPORTED, "attention", "dSink_token", "dSink_token of type HALF", "type FLOAT",
                    "call set_data_type(DataType_t::FLOAT)"});
}

TEST_CASE("sdpa_fwd.c38 sdpa_bwd.c38: a maximum or a gradient that nobody sees") {
    TestGraph forward = attention_graph(kForward), backward = attention_graph(kBackward);
    forward.connect(Max, {2, 4, 6, 1}, DataType_t::FLOAT).is_virtual = true;
    expect_finding(forward, "sdpa_fwd.c38",
                   {ATTRIBUTE_NOT_SET, "attention", "Max", "Max as a virtual tensor that no node reads",
                    "an output, since it was asked for", "call set_output(true)"});
    backward.connect(SinkToken, {1, 4, 1, 1}, DataType_t::FLOAT);
    backward.connect(DSinkToken, {1, 4, 1, 1}, DataType_t::FLOAT).is_virtual = true;
    expect_finding(backward, "sdpa_bwd.c38",
                   {ATTRIBUTE_NOT_SET, "attention", "dSink_token", "dSink_token as a virtual tensor that no node reads",
                    "an output, since it was asked for", "call set_output(true)"});
}
