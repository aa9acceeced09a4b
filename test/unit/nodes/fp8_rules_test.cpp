// Rules about the scales and types of FP8 attention.
#include "graphs.h"
#include "nodes/attention/attention_node.h"

#include <limits>

using namespace test;
using namespace attention;
using enum error_code_t;

namespace {

constexpr NodeKind kForward = NodeKind::SdpaForward, kBackward = NodeKind::SdpaBackward;

std::string rule_of(NodeKind kind, char const* number) {
    return std::string(kind == kForward ? "sdpa_fp8_fwd." : "sdpa_fp8_bwd.") + number;
}

std::vector<int> fp8_ports(NodeKind kind, Direction direction) {
    std::vector<int> ports;
    for (PortRow const& row : schema_of(kind).ports) {
        if (is_fp8_port(row.port) && row.direction == direction) ports.push_back(row.port);
    }
    return ports;
}

}  // namespace

TEST_CASE("8-bit attention is valid, and what is left out is inferred") {
    for (NodeKind const kind : {kForward, kBackward}) {
        for (DataType_t const type : {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2}) {
            TestGraph graph = fp8_graph(kind);
            for (int const port : {Q, K, V}) graph.at(port).data_type = type;
            auto const validation = validate(graph);
            REQUIRE(validation.report.to_text() == "");
            GraphSpec const& made = validation.graph->spec();
            CHECK(is_fp8(made.nodes[0]));
            for (int const port : fp8_ports(kind, Direction::Output)) {
                CHECK(made.tensor(made.nodes[0], port)->dim == Dims{1, 1, 1, 1});
                CHECK(made.tensor(made.nodes[0], port)->data_type == DataType_t::FLOAT);
            }
            CHECK(made.tensor(made.nodes[0], kind == kForward ? O : DQ)->data_type == DataType_t::FP8_E4M3);
        }
        CHECK_FALSE(is_fp8(attention_graph(kind).nodes[0]));
        CHECK(fp8_ports(kind, Direction::Input).size() == (kind == kForward ? 6 : 12));
        CHECK(fp8_ports(kind, Direction::Output).size() == (kind == kForward ? 2 : 4));
    }
}

TEST_CASE("8-bit attention takes every type of results and of what has no scale, and factors by value") {
    for (DataType_t const type : {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2, DataType_t::HALF, DataType_t::BFLOAT16}) {
        TestGraph forward = fp8_graph(kForward), backward = fp8_graph(kBackward);
        forward.at(O).data_type = backward.at(O).data_type = type;
        for (int const port : {DQ, DK, DV}) backward.at(port).data_type = type;
        for (int const port : fp8_ports(kForward, Direction::Input)) forward.at(port).is_by_value = true;
        expect_valid(forward);
        expect_valid(backward);
    }
    for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16, DataType_t::FLOAT}) {
        for (NodeKind const kind : {kForward, kBackward}) {
            TestGraph graph = fp8_graph(kind);
            graph.connect(Bias, {1, 1, 6, 8}, type);
            graph.connect(SinkToken, {1, 4, 1, 1}, type);
            expect_valid(graph);
        }
    }
}

TEST_CASE("sdpa_fp8_fwd.c01 sdpa_fp8_bwd.c01: a factor that is missing") {
    for (NodeKind const kind : {kForward, kBackward}) {
        for (PortRow const& row : schema_of(kind).ports) {
            if (!is_fp8_port(row.port) || row.direction != Direction::Input) continue;
            TestGraph graph = fp8_graph(kind);
            graph.disconnect(row.port);
            expect_finding(graph, rule_of(kind, "c01"),
                           {ATTRIBUTE_NOT_SET, "attention", row.name, "no tensor (null) in FP8 attention",
                            std::string("the tensor ") + row.name + ", " + row.summary,
                            "pass a tensor of one FLOAT; 1 where the numbers need no factor"});
        }
    }
}

TEST_CASE("sdpa_fp8_fwd.c02 sdpa_fp8_bwd.c02: factors and amaxes of other dims or types") {
    for (NodeKind const kind : {kForward, kBackward}) {
        for (PortRow const& row : schema_of(kind).ports) {
            if (!is_fp8_port(row.port)) continue;
            std::string const name = row.name;
            TestGraph wide = fp8_graph(kind), half = fp8_graph(kind);
            wide.at(row.port).data_type = half.at(row.port).data_type = DataType_t::FLOAT;
            wide.resize(row.port, {1, 4, 1, 1});
            expect_finding(wide, rule_of(kind, "c02"),
                           {INVALID_VALUE, "attention", name, name + " with dims [1, 4, 1, 1]",
                            "one element, every dim 1", "call set_dim({1, 1, 1, 1})"});
            half.at(row.port).data_type = DataType_t::HALF;
            expect_finding(half, rule_of(kind, "c02"),
                           {INVALID_VALUE, "attention", name, name + " of type HALF", "type FLOAT",
                            "call set_data_type(DataType_t::FLOAT)"});
        }
    }
}

TEST_CASE("sdpa_fp8_fwd.c03 sdpa_fp8_bwd.c03: factors in the graph that are zero, negative, infinite or NaN") {
    struct Row {
        float value;
        char const* text;
    };
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Row const rows[] = {{0.0f, "0"},        {-0.0f, "-0"},        {-2.0f, "-2"},
                        {kInfinity, "inf"}, {-kInfinity, "-inf"}, {std::numeric_limits<float>::quiet_NaN(), "nan"}};
    for (NodeKind const kind : {kForward, kBackward}) {
        for (PortRow const& row : schema_of(kind).ports) {
            if (!is_fp8_port(row.port) || row.direction != Direction::Input) continue;
            for (Row const& factor : rows) {
                TestGraph graph = fp8_graph(kind);
                graph.at(row.port).value = detail::make_scalar(factor.value);
                graph.at(row.port).is_by_value = true;
                expect_finding(
                    graph, rule_of(kind, "c03"),
                    {INVALID_VALUE, "attention", row.name, std::string(row.name) + " with the value " + factor.text,
                     "a finite number greater than 0", "pick it with fp8_scale() of <cudnn_frontend/fp8.h>"});
            }
            TestGraph graph = fp8_graph(kind);
            graph.at(row.port).value = detail::make_scalar(0.5f);
            graph.at(row.port).is_by_value = true;
            expect_valid(graph);
        }
    }
}

TEST_CASE("sdpa_fp8_fwd.c04 sdpa_fp8_bwd.c04: what enters a product is of other types") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = fp8_graph(kind);
        for (int const port : {Q, K, V}) graph.at(port).data_type = DataType_t::HALF;
        expect_finding(graph, rule_of(kind, "c04"),
                       {GRAPH_NOT_SUPPORTED, "attention", "Q", "Q of type HALF", "type FP8_E4M3 or FP8_E5M2",
                        "convert it with its scale, or use sdpa() and sdpa_backward() for wider types"});
        for (int const port : {K, V}) {
            TestGraph mixed = fp8_graph(kind);
            mixed.at(port).data_type = DataType_t::FP8_E5M2;
            std::string const name = port == K ? "K" : "V";
            expect_finding(mixed, rule_of(kind, "c04"),
                           {GRAPH_NOT_SUPPORTED, "attention", name, name + " of type FP8_E5M2", "type FP8_E4M3",
                            "call set_data_type(DataType_t::FP8_E4M3)"});
        }
    }
    TestGraph backward = fp8_graph(kBackward);
    backward.at(DO).data_type = DataType_t::BFLOAT16;
    expect_finding(backward, "sdpa_fp8_bwd.c04",
                   {GRAPH_NOT_SUPPORTED, "attention", "dO", "dO of type BFLOAT16", "type FP8_E4M3 or FP8_E5M2",
                    "convert it with its scale, or use sdpa() and sdpa_backward() for wider types"});
    backward.at(DO).data_type = DataType_t::FP8_E5M2;
    expect_valid(backward);
}

TEST_CASE("sdpa_fp8_fwd.c05 sdpa_fp8_bwd.c05: results of other types") {
    auto const expect = [](NodeKind kind, int port) {
        TestGraph graph = fp8_graph(kind);
        graph.at(port).data_type = DataType_t::FLOAT;
        std::string const name = port_name(kind, port);
        expect_finding(graph, rule_of(kind, "c05"),
                       {GRAPH_NOT_SUPPORTED, "attention", name, name + " of type FLOAT",
                        "type FP8_E4M3, FP8_E5M2, HALF or BFLOAT16", "call set_data_type(DataType_t::FP8_E4M3)"});
    };
    expect(kForward, O);
    for (int const port : {O, DQ, DK, DV}) expect(kBackward, port);
}

TEST_CASE("sdpa_fp8_fwd.c06 sdpa_fp8_bwd.c06: 8-bit tensors without a scale") {
    auto const expect = [](NodeKind kind, int port, Dims const& dim) {
        TestGraph graph = fp8_graph(kind);
        if (port == DBias) graph.connect(Bias, dim, DataType_t::FLOAT);
        graph.connect(port, dim, DataType_t::FP8_E4M3);
        if (port == DropoutMask) {
            graph.connect(DropoutScale, {1, 1, 1, 1}, DataType_t::FLOAT);
            if (kind == kBackward) graph.connect(DropoutScaleInv, {1, 1, 1, 1}, DataType_t::FLOAT);
        }
        std::string const name = port_name(kind, port);
        expect_finding(
            graph, rule_of(kind, "c06"),
            {GRAPH_NOT_SUPPORTED, "attention", name, name + " of type FP8_E4M3",
             "type HALF, BFLOAT16 or FLOAT: no scale comes with it", "call set_data_type(DataType_t::FLOAT)"});
    };
    for (NodeKind const kind : {kForward, kBackward}) {
        expect(kind, Bias, {1, 1, 6, 8});
        expect(kind, DropoutMask, {2, 4, 6, 8});
        expect(kind, SinkToken, {1, 4, 1, 1});
    }
    expect(kBackward, DBias, {1, 1, 6, 8});
}

TEST_CASE("sdpa_fp8_fwd.c07: as one operation") {
    TestGraph graph = fp8_graph(kForward);
    graph.fields<SdpaForwardFields>().implementation = AttentionImplementation_t::UNIFIED;
    expect_finding(
        graph, "sdpa_fp8_fwd.c07",
        {GRAPH_NOT_SUPPORTED, "attention", "", "FP8 attention under the implementation UNIFIED",
         "the implementation AUTO or COMPOSITE", "call set_implementation(AttentionImplementation_t::AUTO)"});
}

TEST_CASE("sdpa_fwd.c11 sdpa_bwd.c11: 8-bit tensors in attention without factors") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = attention_graph(kind);
        for (int const port : {Q, K, V}) graph.at(port).data_type = DataType_t::FP8_E5M2;
        expect_finding(graph, kind == kForward ? "sdpa_fwd.c11" : "sdpa_bwd.c11",
                       {GRAPH_NOT_SUPPORTED, "attention", "Q", "Q of type FP8_E5M2", "type HALF, BFLOAT16 or FLOAT",
                        "use sdpa_fp8() or sdpa_fp8_backward(), which have factors for 8-bit numbers"});
    }
}
