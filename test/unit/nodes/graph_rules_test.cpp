#include "graphs.h"

using namespace test;

namespace {

TensorSpec& in(TestGraph& graph) { return graph.tensors[0]; }
TensorSpec& between(TestGraph& graph) { return graph.tensors[1]; }
TensorSpec& out(TestGraph& graph) { return graph.tensors[2]; }

}  // namespace

TEST_CASE("graph.c01: a required port without a tensor") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.disconnect(attention::V);
    graph.resize(attention::O, {2, 4, 6, 32});
    expect_finding(
        graph, "graph.c01",
        {error_code_t::ATTRIBUTE_NOT_SET, "attention", "V", "no tensor (null)", "the tensor V, values {B, Hv, Skv, Dv}",
         "pass a tensor that the graph's tensor() or another node returned"});
}

TEST_CASE("graph.c02: a tensor of another graph") {
    TestGraph graph = chain_graph();
    in(graph).is_foreign = true;
    expect_finding(graph, "graph.c02",
                   {error_code_t::INVALID_VALUE, "", "in", "a tensor that another graph registered",
                    "a tensor of this graph", "make one here with tensor_like() and pass that"});
}

TEST_CASE("graph.c03: no data type for a real tensor") {
    TestGraph graph = chain_graph();
    graph.io_data_type = DataType_t::NOT_SET;
    expect_finding(graph, "graph.c03",
                   {error_code_t::ATTRIBUTE_NOT_SET, "", "out", "no data type on a real tensor",
                    "a data type, its own or the graph's default",
                    "call set_data_type() on the tensor or set_io_data_type() on the graph"});
}

TEST_CASE("graph.c03: no data type for a virtual tensor") {
    TestGraph graph = chain_graph();
    graph.intermediate_data_type = DataType_t::NOT_SET;
    expect_finding(graph, "graph.c03",
                   {error_code_t::ATTRIBUTE_NOT_SET, "", "between", "no data type on a virtual tensor",
                    "a data type, its own or the graph's default",
                    "call set_data_type() on the tensor or set_intermediate_data_type() on the graph"});
}

TEST_CASE("graph.c03: no data type for a virtual result that nobody reads, which may be meant as an output") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.at(attention::DV).is_virtual = true;
    expect_finding(graph, "graph.c03",
                   {error_code_t::ATTRIBUTE_NOT_SET, "", "dV", "no data type on a virtual tensor",
                    "a data type, its own or the graph's default",
                    "call set_output(true) on it if it is a result of the graph; else set_data_type() on the tensor or "
                    "set_intermediate_data_type() on the graph"});
}

TEST_CASE("graph.c04: no compute data type") {
    TestGraph graph = reduction_graph();
    graph.compute_data_type = DataType_t::NOT_SET;
    Expected const expected{error_code_t::ATTRIBUTE_NOT_SET,
                            "sum",
                            "",
                            "no compute data type",
                            "the type to compute in, the node's own or the graph's",
                            "call set_compute_data_type(DataType_t::FLOAT) on the graph or on the attributes"};
    expect_finding(graph, "graph.c04", expected);
    graph.nodes[0].compute_data_type = DataType_t::FLOAT;
    expect_valid(graph);
}

TEST_CASE("graph.c05: an input without dims") {
    TestGraph graph = chain_graph();
    in(graph).dim.clear();
    in(graph).stride.clear();
    expect_finding(graph, "graph.c05",
                   {error_code_t::ATTRIBUTE_NOT_SET, "", "in", "no dims on a tensor that a node reads",
                    "the size of each dim", "call set_dim() on the tensor"});
}

TEST_CASE("graph.c06: nine dims") {
    TestGraph graph = chain_graph();
    graph.add("wide", Dims(9, 2), DataType_t::FLOAT);
    expect_finding(graph, "graph.c06",
                   {error_code_t::INVALID_VALUE, "", "wide", "9 dims [2, 2, 2, 2, 2, 2, 2, 2, 2]", "at most 8 dims",
                    "merge adjacent dims"});
    graph.tensors.back().dim = graph.tensors.back().stride = Dims(8, 1);
    expect_valid(graph);
}

TEST_CASE("graph.c07: fewer strides than dims") {
    TestGraph graph = chain_graph();
    in(graph).stride = {1};
    expect_finding(graph, "graph.c07",
                   {error_code_t::INVALID_VALUE, "", "in", "1 strides [1] for 2 dims [2, 3]", "one stride for each dim",
                    "call set_stride(); row-major without gaps is [3, 1]"});
}

TEST_CASE("graph.c05: an input with dims but no strides") {
    TestGraph graph = chain_graph();
    in(graph).stride.clear();
    expect_finding(
        graph, "graph.c05",
        {error_code_t::ATTRIBUTE_NOT_SET, "", "in", "dims [2, 3] without strides on a tensor that a node reads",
         "the distance between adjacent indices of each dim, in elements",
         "call set_stride(); row-major without gaps is [3, 1]"});
}

TEST_CASE("graph.c05: one element needs no strides") {
    TestGraph graph = chain_graph();
    in(graph).dim = {1, 1};
    in(graph).stride.clear();
    between(graph).dim = between(graph).stride = {};
    Validation const validation = validate(graph);
    INFO(validation.report);
    REQUIRE(validation.graph.has_value());
    CHECK(validation.graph->spec().tensors[0].stride == Dims{1, 1});
}

TEST_CASE("graph.c08: empty and negative dims") {
    auto const size = GENERATE(as<std::int64_t>(), 0, -1, INT64_MIN);
    TestGraph graph = chain_graph();
    in(graph).dim = {size, 3};
    between(graph).dim = between(graph).stride = {1, 3};
    expect_finding(graph, "graph.c08",
                   {error_code_t::INVALID_VALUE, "", "in", "dims [" + std::to_string(size) + ", 3]",
                    "a size of at least 1 in each dim", "skip the graph where a batch, length or head count is empty"});
}

TEST_CASE("graph.c08: an empty batch of attention is refused once") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.at(attention::Q).dim[0] = 0;
    graph.resize(attention::DQ, {2, 4, 6, 16});
    expect_finding(graph, "graph.c08",
                   {error_code_t::INVALID_VALUE, "", "Q", "dims [0, 4, 6, 16]", "a size of at least 1 in each dim",
                    "skip the graph where a batch, length or head count is empty"});
}

TEST_CASE("graph.c09: a negative stride") {
    TestGraph graph = chain_graph();
    in(graph).stride = {-3, 1};
    expect_finding(
        graph, "graph.c09",
        {error_code_t::INVALID_VALUE, "", "in", "strides [-3, 1]", "strides of at least 0, counted in elements",
         "point to the lowest address and lay the dim out upwards"});
}

TEST_CASE("graph.c10: sizes whose product passes int64") {
    TestGraph graph = chain_graph();
    std::int64_t const large = std::int64_t{1} << 40;
    graph.add("vast", {large, large}, DataType_t::FLOAT);
    graph.tensors.back().stride = {0, 1};
    expect_finding(graph, "graph.c10",
                   {error_code_t::INVALID_VALUE, "", "vast",
                    "dims [1099511627776, 1099511627776] and strides [0, 1] of type FLOAT",
                    "elements and span of at most 2^62 bytes", "check the sizes for a product that overflowed"});
}

TEST_CASE("graph.c10: a stride that reaches past 2^62 bytes") {
    TestGraph graph = chain_graph();
    std::int64_t const furthest = (std::int64_t{1} << 60) - 3;  // its span is 2^60 elements of 4 bytes
    in(graph).stride = {furthest, 1};
    expect_valid(graph);
    in(graph).stride = {furthest + 1, 1};
    expect_finding(
        graph, "graph.c10",
        {error_code_t::INVALID_VALUE, "", "in", "dims [2, 3] and strides [1152921504606846974, 1] of type FLOAT",
         "elements and span of at most 2^62 bytes", "check the sizes for a product that overflowed"});
}

TEST_CASE("graph.c11: elements of half a byte") {
    TestGraph graph = chain_graph();
    in(graph).data_type = DataType_t::FP4_E2M1;
    expect_finding(
        graph, "graph.c11",
        {error_code_t::GRAPH_NOT_SUPPORTED, "", "in", "data type FP4_E2M1", "a type whose elements are whole bytes",
         "unpack the tensor to INT8, HALF or another type of whole bytes"});
}

TEST_CASE("graph.c12: alignments that are no power of two or below the element") {
    auto const bytes = GENERATE(as<std::int64_t>(), 0, -16, 24, 2, INT64_MIN);
    TestGraph graph = chain_graph();
    in(graph).alignment = bytes;
    expect_finding(
        graph, "graph.c12",
        {error_code_t::INVALID_VALUE, "", "in", "an alignment of " + std::to_string(bytes) + " bytes",
         "a power of two of at least 4, the size of an element", "call set_alignment() with 16, the default"});
}

TEST_CASE("graph.c13: a reordered tensor") {
    TestGraph graph = chain_graph();
    in(graph).reordering = TensorReordering_t::F8_128x4;
    expect_finding(graph, "graph.c13",
                   {error_code_t::GRAPH_NOT_SUPPORTED, "", "in", "reordering F8_128x4",
                    "reordering NONE, or F8_128x4 on block scales of FP8 attention",
                    "leave out set_reordering_type(), or pass the tensor to sdpa_fp8() as block scales"});
}

TEST_CASE("graph.c13: a vectorized tensor") {
    TestGraph graph = chain_graph();
    in(graph).vector_count = 4;
    expect_finding(graph, "graph.c13",
                   {error_code_t::GRAPH_NOT_SUPPORTED, "", "in", "a vector count of 4", "a vector count of 1",
                    "leave out set_vector_count_and_dimension() and give each element its own index"});
}

TEST_CASE("graph.c27: a ragged tensor that is not attention's") {
    TestGraph graph = chain_graph();
    in(graph).ragged_offset = graph.add("offsets", {in(graph).dim[0] + 1, 1, 1, 1}, DataType_t::INT64);
    auto const report = validate(graph).report;
    REQUIRE(report.findings().size() == 1);
    CHECK(report.findings()[0].where.rule == "graph.c27");
    CHECK(report.findings()[0].where.tensor == "in");
    CHECK(report.findings()[0].needed ==
          "a tensor that attention reads or writes as Q, K, V, O, Stats, Max, Sum_exp, a gradient of these or a page "
          "table");
}

TEST_CASE("graph.c15: a negative uid") {
    TestGraph graph = chain_graph();
    in(graph).uid = -7;
    expect_finding(graph, "graph.c15",
                   {error_code_t::INVALID_VALUE, "", "in", "uid -7", "a uid of at least 0",
                    "call set_uid() with another number, or leave it out to have one assigned"});
    in(graph).uid = 0;
    expect_valid(graph);
}

TEST_CASE("graph.c16: two tensors with one uid") {
    TestGraph graph = chain_graph();
    in(graph).uid = 5;
    out(graph).uid = 5;
    expect_finding(graph, "graph.c16",
                   {error_code_t::INVALID_VALUE, "", "out", "uid 5, which 'in' has too",
                    "a uid that no other tensor of the graph has",
                    "call set_uid() with another number, or clear_uid() to have one assigned"});
}

TEST_CASE("graph.c17: a by-value tensor of several elements") {
    TestGraph graph = chain_graph();
    in(graph).is_by_value = true;
    expect_finding(graph, "graph.c17",
                   {error_code_t::INVALID_VALUE, "", "in", "dims [2, 3] on a tensor that is passed by value",
                    "one element, every dim 1",
                    "give it dims of 1, or pass a pointer to its elements with set_is_pass_by_value(false)"});
}

TEST_CASE("graph.c18: a by-value tensor that is virtual") {
    TestGraph graph = chain_graph();
    TensorSpec& unused = graph.tensors[static_cast<std::size_t>(graph.add("scalar", {1}, DataType_t::FLOAT))];
    unused.is_by_value = unused.is_virtual = true;
    expect_finding(graph, "graph.c18",
                   {error_code_t::INVALID_VALUE, "", "scalar", "a virtual tensor that is passed by value",
                    "a tensor that is either computed inside the graph or passed in",
                    "call set_is_virtual(false) to pass it, or set_is_pass_by_value(false) to compute it"});
}

TEST_CASE("graph.c19: an embedded scalar of another type than its tensor") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::ADD);
    graph.resize(pointwise::In1, {1});
    graph.at(pointwise::In1).is_by_value = true;
    graph.at(pointwise::In1).value = detail::make_scalar(2.5f);
    expect_valid(graph);
    graph.at(pointwise::In1).value = detail::make_scalar(2.5);
    expect_finding(graph, "graph.c19",
                   {error_code_t::INVALID_VALUE, "", "IN_1", "a value of type DOUBLE on a tensor of type FLOAT",
                    "a value of the tensor's type",
                    "make the scalar from a C++ value of that type and leave out set_data_type()"});
}

TEST_CASE("graph.c20: a node that writes a by-value tensor") {
    TestGraph graph = reduction_graph();
    graph.resize(reduction::Y, {1, 1, 1});
    graph.at(reduction::Y).is_by_value = true;
    expect_finding(graph, "graph.c20",
                   {error_code_t::INVALID_VALUE, "", "Y", "a tensor passed by value that is written as sum.Y",
                    "memory that the result can be written to", "call set_is_pass_by_value(false)"});
}

TEST_CASE("graph.c21: two nodes that write one tensor") {
    TestGraph graph = chain_graph();
    graph.nodes.push_back(graph.nodes[1]);
    graph.nodes[2].name = "again";
    expect_finding(graph, "graph.c21",
                   {error_code_t::INVALID_VALUE, "", "out", "a tensor written as neg.OUT_0 and as again.OUT_0",
                    "a tensor of its own for each result", "make one more tensor and connect it to one of the two"});
}

TEST_CASE("graph.c21: one node that writes a tensor twice") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    graph.disconnect(attention::DV);
    graph.resize(attention::V, {2, 2, 8, 16});
    graph.resize(attention::O, {2, 4, 6, 16});
    graph.resize(attention::DO, {2, 4, 6, 16});
    graph.slot(attention::DV) = graph.slot(attention::DK);
    expect_finding(graph, "graph.c21",
                   {error_code_t::INVALID_VALUE, "", "dK", "a tensor written as attention.dK and as attention.dV",
                    "a tensor of its own for each result", "make one more tensor and connect it to one of the two"});
}

TEST_CASE("graph.c22: an output whose indices share elements") {
    auto const stride = GENERATE(Dims{0, 1}, Dims{2, 1}, Dims{1, 1});
    TestGraph graph = chain_graph();
    out(graph).dim = {2, 3};
    out(graph).stride = stride;
    expect_finding(
        graph, "graph.c22",
        {error_code_t::INVALID_VALUE, "", "out",
         "dims [2, 3] with strides " + core::to_string(stride) + " on a tensor that is written",
         "strides under which no two indices share an element", "call set_stride(); row-major without gaps is [3, 1]"});
}

TEST_CASE("graph.c22: an input may share elements") {
    TestGraph graph = chain_graph();
    in(graph).stride = {0, 1};
    expect_valid(graph);
}

TEST_CASE("graph.c23: a virtual tensor that no node writes") {
    TestGraph graph = chain_graph();
    in(graph).is_virtual = true;
    expect_finding(
        graph, "graph.c23",
        {error_code_t::INVALID_VALUE, "", "in", "a virtual tensor that is read as exp.IN_0 and that no node writes",
         "a node that computes it, or memory that holds it",
         "call set_is_virtual(false) and pass a pointer, or connect a node's result instead"});
}

TEST_CASE("graph.c24: a node without a used result") {
    TestGraph graph = chain_graph();
    out(graph).is_virtual = true;
    expect_finding(graph, "graph.c24",
                   {error_code_t::ATTRIBUTE_NOT_SET, "neg", "out",
                    "a node without a result that is an output or that another node reads",
                    "at least one result that is used", "call set_output(true) on OUT_0"});
}

TEST_CASE("graph.c25: nodes that wait for each other") {
    TestGraph graph = chain_graph();
    graph.nodes[0].ports[pointwise::In0] = 2;
    out(graph).dim = {2, 3};
    expect_finding(graph, "graph.c25",
                   {error_code_t::INVALID_VALUE, "exp", "", "nodes that read each other's results: exp <- neg <- exp",
                    "an order in which each node's inputs exist before it runs",
                    "connect a tensor from outside the cycle to one of these nodes"});
}

TEST_CASE("graph.c25: a node behind a cycle is not blamed") {
    TestGraph graph = chain_graph();
    TensorId const late = graph.add("late", {}, DataType_t::NOT_SET);
    graph.nodes.insert(graph.nodes.begin(), graph.nodes[1]);
    graph.nodes[0].name = "behind";
    graph.nodes[0].ports = {2, kNoTensor, kNoTensor, late};
    graph.nodes[1].ports[pointwise::In0] = 2;
    out(graph).dim = {2, 3};
    expect_finding(graph, "graph.c25",
                   {error_code_t::INVALID_VALUE, "neg", "", "nodes that read each other's results: neg <- exp <- neg",
                    "an order in which each node's inputs exist before it runs",
                    "connect a tensor from outside the cycle to one of these nodes"});
}

TEST_CASE("graph.c25: attention and its modifier, which take turns, are not blamed for a cycle that they wait for") {
    using namespace attention;
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    Dims const scores{2, 4, 6, 8};
    graph.connect(Score, {}, DataType_t::NOT_SET).is_virtual = true;
    graph.connect(ScoreMod, scores, DataType_t::FLOAT).is_virtual = true;
    graph.connect(Bias, scores, DataType_t::FLOAT).is_virtual = true;
    TensorId const back = graph.add("back", scores, DataType_t::FLOAT);
    graph.tensors[static_cast<std::size_t>(back)].is_virtual = true;
    auto const add_step = [&](char const* label, TensorId from, TensorId to) {
        Node& node = graph.add_node(NodeKind::Pointwise, label);
        std::get<PointwiseFields>(node.fields).mode = PointwiseMode_t::IDENTITY;
        node.compute_data_type = DataType_t::FLOAT;
        node.ports = {from, kNoTensor, kNoTensor, to};
    };
    add_step("modifier", graph.slot(Score), graph.slot(ScoreMod));
    add_step("there", back, graph.slot(Bias));
    add_step("again", graph.slot(Bias), back);
    std::rotate(graph.nodes.begin(), graph.nodes.begin() + 1, graph.nodes.end());
    expect_finding(
        graph, "graph.c25",
        {error_code_t::INVALID_VALUE, "there", "", "nodes that read each other's results: there <- again <- there",
         "an order in which each node's inputs exist before it runs",
         "connect a tensor from outside the cycle to one of these nodes"});
}

TEST_CASE("graph.c22: a result without a name of its own is called by its port, and its node by kind and number") {
    TestGraph graph = chain_graph();
    graph.nodes[0].name = graph.nodes[1].name = "";
    graph.tensors[1].name = "::OUT_0";
    graph.tensors[1].dim = {2, 2};
    graph.tensors[1].stride = {1, 1};
    std::string const report = validate(graph).report.to_text();
    CHECK(report.find("tensor 'POINTWISE 0.OUT_0'") != std::string::npos);
    CHECK(report.find("'::OUT_0'") == std::string::npos);
}

TEST_CASE("graph.c25: a node that reads its own result") {
    TestGraph graph = chain_graph();
    graph.nodes.erase(graph.nodes.begin());
    graph.nodes[0].ports[pointwise::In0] = 2;
    out(graph).dim = {2, 3};
    expect_finding(graph, "graph.c25",
                   {error_code_t::INVALID_VALUE, "neg", "", "nodes that read each other's results: neg <- neg",
                    "an order in which each node's inputs exist before it runs",
                    "connect a tensor from outside the cycle to one of these nodes"});
}

TEST_CASE("tensors and nodes without a name are called by place") {
    TestGraph graph = chain_graph();
    graph.nodes[1].name.clear();
    between(graph).name.clear();
    between(graph).uid = -1;
    Report const report = validate(graph).report;
    REQUIRE(report.findings().size() == 1);
    CHECK(report.findings()[0].where.tensor == "exp.OUT_0");
    out(graph).is_virtual = true;
    CHECK(validate(graph).report.findings().back().where.node == "POINTWISE 1");
}

TEST_CASE("what an unused tensor leaves out does not matter") {
    TestGraph graph = chain_graph();
    graph.io_data_type = DataType_t::NOT_SET;
    out(graph).data_type = DataType_t::FLOAT;
    graph.add("unused", {}, DataType_t::NOT_SET);
    expect_valid(graph);
}

TEST_CASE("graph.c26: a number in place of an enumerator") {
    std::string const fix = "pass an enumerator of the type instead of a number";
    auto const expect = [&](TestGraph const& graph, char const* node, char const* tensor, char const* field,
                            char const* values) {
        expect_finding(graph, "graph.c26",
                       {error_code_t::INVALID_VALUE, node, tensor, std::string(field) + " with the value 999",
                        std::string("one of its ") + values, fix});
    };
    constexpr char const* kTypes = "21 values from NOT_SET to COMPLEX_FP64";
    auto const number = static_cast<DataType_t>(999);
    TestGraph graph = chain_graph();
    graph.fields<PointwiseFields>().mode = static_cast<PointwiseMode_t>(999);
    expect(graph, "exp", "", "mode", "51 values from NOT_SET to RECIPROCAL");
    graph = chain_graph();
    in(graph).data_type = number;
    expect(graph, "", "in", "data_type", kTypes);
    graph = chain_graph();
    graph.nodes[1].compute_data_type = number;
    expect(graph, "neg", "", "compute_data_type", kTypes);
    graph = reduction_graph();
    graph.io_data_type = number;
    expect(graph, "", "", "io_data_type", kTypes);
    graph.io_data_type = DataType_t::NOT_SET;
    graph.fields<ReductionFields>().mode = static_cast<ReductionMode_t>(999);
    expect(graph, "sum", "", "mode", "10 values from NOT_SET to MUL_NO_ZEROS");
    graph = chain_graph();
    in(graph).reordering = static_cast<TensorReordering_t>(999);
    expect(graph, "", "in", "reordering", "4 values from NONE to F8_128x4");
    graph = attention_graph(NodeKind::SdpaForward);
    graph.attention_options().diagonal_alignment = static_cast<DiagonalAlignment_t>(999);
    expect(graph, "attention", "", "diagonal_alignment", "2 values from TOP_LEFT to BOTTOM_RIGHT");
    graph = attention_graph(NodeKind::SdpaForward);
    graph.fields<SdpaForwardFields>().implementation = static_cast<AttentionImplementation_t>(999);
    expect(graph, "attention", "", "implementation", "3 values from AUTO to UNIFIED");
    graph = attention_graph(NodeKind::SdpaForward);
    graph.at(attention::K).data_type = number;
    expect(graph, "", "K", "data_type", kTypes);
}
