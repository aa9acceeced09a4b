// The rules of slice, reshape and transpose, and the inference of their results.
#include "graphs.h"

#include <limits>

using namespace test;
using enum error_code_t;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TensorSpec inferred(TestGraph const& graph, int port) {
    Validation const validation = validate(graph);
    INFO(validation.report);
    REQUIRE(validation.graph.has_value());
    GraphSpec const& spec = validation.graph->spec();
    return *spec.tensor(spec.nodes[0], port);
}

}  // namespace

TEST_CASE("what moves elements needs no compute type and gives the type it is given") {
    for (TestGraph const& graph : {slice_graph(), reshape_graph(), transpose_graph()}) {
        CAPTURE(graph.nodes[0].name);
        expect_valid(graph);
        CHECK(inferred(graph, 1).data_type == DataType_t::HALF);
    }
}

TEST_CASE("a type that the graph's defaults give to the operand is the result's too") {
    for (TestGraph graph : {slice_graph(), reshape_graph(), transpose_graph()}) {
        CAPTURE(graph.nodes[0].name);
        graph.io_data_type = DataType_t::BFLOAT16;
        graph.intermediate_data_type = DataType_t::FLOAT;
        graph.at(0).data_type = DataType_t::NOT_SET;
        CHECK(inferred(graph, 1).data_type == DataType_t::BFLOAT16);
    }
}

TEST_CASE("a slice has an element for each index that is kept") {
    TensorSpec const y = inferred(slice_graph(), slice::Y);
    CHECK(y.dim == Dims{2, 3, 2});
    CHECK(y.stride == Dims{6, 2, 1});
    TestGraph graph = slice_graph();
    graph.fields<SliceFields>().step = {};
    CHECK(inferred(graph, slice::Y).dim == Dims{2, 6, 6});
    graph.fields<SliceFields>().step = {kHuge, kHuge, kHuge};
    CHECK(inferred(graph, slice::Y).dim == Dims{1, 1, 1});
}

TEST_CASE("slice.c01: a start and a limit too few") {
    TestGraph graph = slice_graph();
    graph.fields<SliceFields>().start = {1, 0};
    graph.resize(slice::Y, {2, 3, 2});
    expect_finding(graph, "slice.c01",
                   {INVALID_VALUE, "part", "", "2 starts and 3 limits", "3 of each, for X with dims [4, 6, 8]",
                    "call set_slices() with a start and a limit for each dim"});
}

TEST_CASE("slice.c02: an interval that is empty or leaves the dim") {
    struct Case {
        std::int64_t start, limit;
        char const* text;
    };
    for (Case const& one : {Case{2, 7, "2 to 7"}, Case{-1, 3, "-1 to 3"}, Case{3, 3, "3 to 3"}, Case{4, 2, "4 to 2"},
                            Case{0, kHuge, "0 to 9223372036854775807"}}) {
        TestGraph graph = slice_graph();
        graph.fields<SliceFields>().start[1] = one.start;
        graph.fields<SliceFields>().limit[1] = one.limit;
        graph.resize(slice::Y, {2, 3, 2});
        expect_finding(
            graph, "slice.c02",
            {INVALID_VALUE, "part", "", std::string("the interval from ") + one.text + " in dim 1",
             "an interval that is not empty, within 0 to 6", "call set_slices() with {0, 6} to keep the dim as it is"});
    }
}

TEST_CASE("slice.c03: a step of 0, and steps for some dims alone") {
    for (Dims const& steps : {Dims{1, 0, 1}, Dims{1, 2}}) {
        TestGraph graph = slice_graph();
        graph.fields<SliceFields>().step = steps;
        graph.resize(slice::Y, {2, 3, 2});
        expect_finding(graph, "slice.c03",
                       {INVALID_VALUE, "part", "", "the steps " + core::to_string(steps),
                        "a step of at least 1 for each of 3 dims", "leave set_strides() out for steps of 1"});
    }
}

TEST_CASE("slice.c04: a result of other dims") {
    TestGraph graph = slice_graph();
    graph.resize(slice::Y, {2, 3, 3});
    expect_finding(graph, "slice.c04",
                   {INVALID_VALUE, "part", "Y", "Y with dims [2, 3, 3]",
                    "dims [2, 3, 2], one for each index that is kept", "leave out set_dim() on the result"});
}

TEST_CASE("slice.c05, reshape.c06, transpose.c03: a result of another type") {
    struct Case {
        TestGraph graph;
        char const *rule, *node;
    };
    for (Case& one : std::vector<Case>{{slice_graph(), "slice.c05", "part"},
                                       {reshape_graph(), "reshape.c06", "rows"},
                                       {transpose_graph(), "transpose.c03", "turned"}}) {
        one.graph.at(1).data_type = DataType_t::FLOAT;
        expect_finding(one.graph, one.rule,
                       {INVALID_VALUE, one.node, "Y", "Y of type FLOAT", "X's type HALF",
                        "leave out set_data_type() on the result, and convert with a pointwise IDENTITY"});
    }
}

TEST_CASE("a reshape has the dims that its node or its result names") {
    CHECK(inferred(reshape_graph(), reshape::Y).stride == Dims{4, 1});
    TestGraph graph = reshape_graph();
    graph.fields<ReshapeFields>().stride = {1, 6};
    CHECK(inferred(graph, reshape::Y).stride == Dims{1, 6});
    graph.fields<ReshapeFields>() = {};
    graph.at(reshape::Y).dim = {24};
    CHECK(inferred(graph, reshape::Y).stride == Dims{1});
}

TEST_CASE("reshape.c01: no mode") {
    TestGraph graph = reshape_graph();
    graph.fields<ReshapeFields>().mode = ReshapeMode_t::NOT_SET;
    expect_finding(graph, "reshape.c01",
                   {ATTRIBUTE_NOT_SET, "rows", "", "the mode NOT_SET", "VIEW_ONLY or LOGICAL",
                    "leave set_reshape_mode() out for VIEW_ONLY, or pass ReshapeMode_t::LOGICAL"});
}

TEST_CASE("reshape.c02: no dims") {
    TestGraph graph = reshape_graph();
    graph.fields<ReshapeFields>().dim = {};
    expect_finding(graph, "reshape.c02",
                   {ATTRIBUTE_NOT_SET, "rows", "Y", "no dims on the result Y", "dims of as many elements as X has",
                    "call set_dim() on the attributes or on the result"});
}

TEST_CASE("reshape.c03: dims or strides of the result that are not the node's") {
    TestGraph graph = reshape_graph();
    graph.resize(reshape::Y, {4, 6});
    expect_finding(graph, "reshape.c03",
                   {INVALID_VALUE, "rows", "Y", "Y with dims [4, 6]", "dims [6, 4], as set on the attributes",
                    "set its dims in one of the two places"});
    graph = reshape_graph();
    graph.fields<ReshapeFields>().stride = {1, 6};
    graph.at(reshape::Y).stride = {4, 1};
    expect_finding(graph, "reshape.c03",
                   {INVALID_VALUE, "rows", "Y", "Y with strides [4, 1]", "strides [1, 6], as set on the attributes",
                    "set its strides in one of the two places"});
}

TEST_CASE("reshape.c04: a result of more elements") {
    TestGraph graph = reshape_graph();
    graph.fields<ReshapeFields>().dim = {6, 5};
    expect_finding(graph, "reshape.c04",
                   {INVALID_VALUE, "rows", "Y", "Y with dims [6, 5]", "as many elements as X has with dims [2, 3, 4]",
                    "call set_dim() with sizes of that product"});
}

TEST_CASE("reshape.c05: a view of elements without an order in memory") {
    TestGraph graph = reshape_graph();
    graph.at(reshape::X).stride = {0, 4, 1};
    expect_finding(graph, "reshape.c05",
                   {INVALID_VALUE, "rows", "X", "X with dims [2, 3, 4] and strides [0, 4, 1]",
                    "strides under which no two indices share an element, so that their order in memory is known",
                    "call set_reshape_mode(ReshapeMode_t::LOGICAL)"});
    graph.fields<ReshapeFields>().mode = ReshapeMode_t::LOGICAL;
    expect_valid(graph);
}

TEST_CASE("a transpose lies where its operand does, unless indices share elements there") {
    TensorSpec const y = inferred(transpose_graph(), transpose::Y);
    CHECK(y.dim == Dims{4, 2, 3});
    CHECK(y.stride == Dims{1, 12, 4});
    TestGraph graph = transpose_graph();
    graph.at(transpose::X).stride = {0, 4, 1};
    CHECK(inferred(graph, transpose::Y).stride == Dims{6, 3, 1});
    graph.at(transpose::Y).stride = {1, 12, 4};
    CHECK(inferred(graph, transpose::Y).stride == Dims{1, 12, 4});
}

TEST_CASE("transpose.c01: what is no permutation") {
    for (Dims const& permutation : {Dims{0, 1}, Dims{0, 1, 1}, Dims{1, 2, 3}, Dims{-1, 0, 1}, Dims{}}) {
        TestGraph graph = transpose_graph();
        graph.fields<TransposeFields>().permutation = permutation;
        graph.resize(transpose::Y, {4, 2, 3});
        expect_finding(graph, "transpose.c01",
                       {INVALID_VALUE, "turned", "", "the permutation " + core::to_string(permutation),
                        "each of the dims 0 to 2 of X once",
                        "call set_permutation() with the dim of X for each dim of the result"});
    }
}

TEST_CASE("transpose.c02: a result of other dims") {
    TestGraph graph = transpose_graph();
    graph.resize(transpose::Y, {2, 4, 3});
    expect_finding(graph, "transpose.c02",
                   {INVALID_VALUE, "turned", "Y", "Y with dims [2, 4, 3]",
                    "dims [4, 2, 3], those of X in the order of the permutation", "leave out set_dim() on the result"});
}
