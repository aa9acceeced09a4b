#include "graphs.h"

#include <limits>

using namespace test;
using enum cudnn_frontend::error_code_t;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

PointwiseFields& options(TestGraph& graph) { return graph.fields<PointwiseFields>(); }

}  // namespace

TEST_CASE("pointwise.c01: no mode") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::NOT_SET);
    expect_finding(graph, "pointwise.c01",
                   {ATTRIBUTE_NOT_SET, "op", "", "no pointwise mode", "the operation to compute",
                    "call set_mode(), such as PointwiseMode_t::ADD"});
}

TEST_CASE("pointwise.c02: a missing operand") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::ADD);
    graph.disconnect(pointwise::In1);
    expect_finding(
        graph, "pointwise.c02",
        {ATTRIBUTE_NOT_SET, "op", "IN_1", "no operand IN_1 for ADD", "2 operands", "call pointwise() with 2 tensors"});
}

TEST_CASE("pointwise.c03: an operand too many") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::ADD);
    options(graph).mode = PointwiseMode_t::EXP;
    expect_finding(graph, "pointwise.c03",
                   {INVALID_VALUE, "op", "IN_1", "an operand IN_1 for EXP", "no more than 1 operand",
                    "call pointwise() with 1 of the tensors"});
}

TEST_CASE("pointwise.c04: operands that do not broadcast") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::ADD);
    graph.resize(pointwise::In1, {2, 1});
    expect_finding(graph, "pointwise.c04",
                   {INVALID_VALUE, "op", "IN_1", "IN_1 with dims [2, 1]",
                    "dims that equal those of the other operands or are 1, so that all broadcast to [2, 3, 4]",
                    "set differing dims to 1, which broadcasts them, or to the other operand's size"});
    graph.resize(pointwise::In1, {3, 1});
    expect_valid(graph);
}

TEST_CASE("pointwise.c05: a result of other dims") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::ADD);
    graph.resize(pointwise::Out0, {2, 3, 1});
    expect_finding(
        graph, "pointwise.c05",
        {INVALID_VALUE, "op", "OUT_0", "OUT_0 with dims [2, 3, 1]", "dims [2, 3, 4], to which the operands broadcast",
         "leave out set_dim() on the result to have it inferred"});
}

TEST_CASE("pointwise.c06: GEN_INDEX without an axis, or with one that its operand does not have") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::GEN_INDEX);
    expect_finding(graph, "pointwise.c06",
                   {INVALID_VALUE, "op", "", "no axis for GEN_INDEX", "an axis from 0 to 2, a dim of IN_0",
                    "call set_axis() with the dim whose index to generate"});
    options(graph).axis = 3;
    expect_finding(graph, "pointwise.c06",
                   {INVALID_VALUE, "op", "", "axis 3 for GEN_INDEX", "an axis from 0 to 2, a dim of IN_0",
                    "call set_axis() with the dim whose index to generate"});
    options(graph).axis = 2;
    expect_valid(graph);
}

TEST_CASE("pointwise.c07: an axis for another mode") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::EXP);
    options(graph).axis = 1;
    expect_finding(graph, "pointwise.c07",
                   {INVALID_VALUE, "op", "", "axis 1 for EXP", "an axis for GEN_INDEX only", "leave out set_axis()"});
}

TEST_CASE("pointwise.c08: a predicate that is neither BOOLEAN nor INT32") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::ADD);
    options(graph).mode = PointwiseMode_t::BINARY_SELECT;
    graph.connect(pointwise::In2, {2, 3, 4}, DataType_t::FLOAT);
    expect_finding(graph, "pointwise.c08",
                   {GRAPH_NOT_SUPPORTED, "op", "IN_2", "IN_2 of type FLOAT for BINARY_SELECT", "type BOOLEAN, or INT32",
                    "call set_data_type(DataType_t::BOOLEAN) on it; a comparison gives such a tensor"});
    for (DataType_t const type : {DataType_t::BOOLEAN, DataType_t::INT32}) {
        graph.at(pointwise::In2).data_type = type;
        expect_valid(graph);
    }
}

TEST_CASE("pointwise.c09: a parameter of another mode") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::RELU_FWD);
    options(graph).relu_upper_clip = 6.0f;
    expect_valid(graph);
    options(graph).swish_beta = 1.5f;
    expect_finding(graph, "pointwise.c09",
                   {INVALID_VALUE, "op", "", "swish_beta = 1.5 for RELU_FWD",
                    "swish_beta for SWISH_FWD and SWISH_BWD only", "leave out set_swish_beta()"});
}

TEST_CASE("pointwise.c10: a parameter that is not finite") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::ELU_FWD);
    options(graph).elu_alpha = kInfinity;
    expect_finding(
        graph, "pointwise.c10",
        {INVALID_VALUE, "op", "", "elu_alpha = inf", "a finite number", "leave out set_elu_alpha() for the default"});
}

TEST_CASE("pointwise.c11: clips in the wrong order") {
    TestGraph graph = pointwise_graph(PointwiseMode_t::RELU_FWD);
    options(graph).relu_upper_clip = -1.0f;
    expect_finding(graph, "pointwise.c11",
                   {INVALID_VALUE, "op", "", "relu_lower_clip = 0 above relu_upper_clip = -1",
                    "a lower clip of at most the upper clip", "swap the two"});
    options(graph).relu_lower_clip = -2.0f;
    expect_valid(graph);
}

TEST_CASE("matmul.c01: a vector") {
    TestGraph graph = matmul_graph();
    graph.resize(matmul::A, {16});
    graph.resize(matmul::C, {2, 4, 6, 8});
    expect_finding(graph, "matmul.c01",
                   {INVALID_VALUE, "product", "A", "A with dims [16]", "at least 2 dims, rows and columns",
                    "add a dim of size 1 for a vector"});
}

TEST_CASE("matmul.c01: factors of different rank") {
    TestGraph graph = matmul_graph();
    graph.resize(matmul::B, {2, 16, 8});
    graph.resize(matmul::C, {2, 4, 6, 8});
    expect_finding(graph, "matmul.c01",
                   {INVALID_VALUE, "product", "B", "B with 3 dims [2, 16, 8]", "4 dims, as A has with [2, 4, 6, 16]",
                    "add batch dims of size 1 in front"});
}

TEST_CASE("matmul.c02: inner sizes that differ") {
    TestGraph graph = matmul_graph();
    graph.resize(matmul::B, {2, 2, 8, 16});
    expect_finding(graph, "matmul.c02",
                   {INVALID_VALUE, "product", "B", "B with 8 rows in dims [2, 2, 8, 16]",
                    "16 rows, as many as A has columns in dims [2, 4, 6, 16]",
                    "swap the last two dims and strides of the transposed factor"});
}

TEST_CASE("matmul.c03: batch sizes that do not divide") {
    TestGraph graph = matmul_graph();
    graph.resize(matmul::B, {2, 3, 16, 8});
    expect_finding(graph, "matmul.c03",
                   {INVALID_VALUE, "product", "B", "batch sizes 4 in A and 3 in B, dim 1",
                    "batch sizes of which one divides the other", "repeat or drop entries of the smaller one"});
}

TEST_CASE("matmul.c04: a product of other dims") {
    TestGraph graph = matmul_graph();
    graph.resize(matmul::C, {2, 2, 6, 8});
    expect_finding(graph, "matmul.c04",
                   {INVALID_VALUE, "product", "C", "C with dims [2, 2, 6, 8]",
                    "dims [2, 4, 6, 8], the rows of A by the columns of B",
                    "leave out set_dim() on the result to have it inferred"});
}

TEST_CASE("matmul.c05: overrides of other dims") {
    TestGraph graph = matmul_graph();
    graph.connect(matmul::KOverride, {2}, DataType_t::INT32);
    expect_finding(
        graph, "matmul.c05",
        {INVALID_VALUE, "product", "K_override", "K_override with dims [2] for a product of dims [2, 4, 6, 8]",
         "dims [2, 1, 1, 1], one length for each batch entry",
         "call set_dim({batch, 1, 1, 1}) on the lengths, and give A and B 4 dims"});
}

TEST_CASE("matmul.c05: overrides for a product without 4 dims") {
    TestGraph graph = matmul_graph();
    graph.resize(matmul::A, {2, 6, 16});
    graph.resize(matmul::B, {2, 16, 8});
    graph.connect(matmul::MOverride, {2, 1, 1, 1}, DataType_t::INT32);
    expect_finding(
        graph, "matmul.c05",
        {INVALID_VALUE, "product", "M_override", "M_override with dims [2, 1, 1, 1] for a product of dims [2, 6, 8]",
         "a product of 4 dims, and one length for each batch entry",
         "call set_dim({batch, 1, 1, 1}) on the lengths, and give A and B 4 dims"});
}

TEST_CASE("matmul.c06: overrides of another type than INT32") {
    TestGraph graph = matmul_graph();
    graph.connect(matmul::NOverride, {2, 1, 1, 1}, DataType_t::INT64);
    expect_finding(graph, "matmul.c06",
                   {GRAPH_NOT_SUPPORTED, "product", "N_override", "N_override of type INT64", "type INT32",
                    "call set_data_type(DataType_t::INT32)"});
}

TEST_CASE("matmul.c09: overrides that a node computes") {
    TestGraph graph = matmul_graph();
    graph.connect(matmul::KOverride, {2, 1, 1, 1}, DataType_t::INT32);
    TensorId const counts = graph.add("counts", {2, 1, 1, 1}, DataType_t::INT32);
    Node& node = graph.add_node(NodeKind::Pointwise, "negate");
    std::get<PointwiseFields>(node.fields).mode = PointwiseMode_t::NEG;
    node.ports = {counts, kNoTensor, kNoTensor, graph.slot(matmul::KOverride)};
    expect_finding(graph, "matmul.c09",
                   {GRAPH_NOT_SUPPORTED, "product", "K_override", "K_override that is computed as negate.OUT_0",
                    "lengths that are known before the graph runs",
                    "compute them before, make a tensor for them with the graph's tensor() and pass a pointer"});
}

TEST_CASE("matmul.c07: factors of integers") {
    TestGraph graph = matmul_graph();
    graph.at(matmul::A).data_type = DataType_t::INT8;
    expect_finding(graph, "matmul.c07",
                   {GRAPH_NOT_SUPPORTED, "product", "A", "A of type INT8", "type HALF, BFLOAT16, FLOAT or DOUBLE",
                    "convert it with an IDENTITY pointwise node"});
}

TEST_CASE("matmul.c08: a padding value that is not finite") {
    TestGraph graph = matmul_graph();
    graph.fields<MatmulFields>().padding_value = -static_cast<double>(kInfinity);
    expect_finding(graph, "matmul.c08",
                   {INVALID_VALUE, "product", "", "the padding value -inf", "a finite number",
                    "leave out set_padding(), and mask the product with BINARY_SELECT"});
}

TEST_CASE("reduction.c01: no mode") {
    TestGraph graph = reduction_graph();
    graph.fields<ReductionFields>().mode = ReductionMode_t::NOT_SET;
    expect_finding(graph, "reduction.c01",
                   {ATTRIBUTE_NOT_SET, "sum", "", "no reduction mode", "the operation to reduce with",
                    "call set_mode(), such as ReductionMode_t::ADD"});
}

TEST_CASE("reduction.c02: a result without dims") {
    TestGraph graph = reduction_graph();
    graph.resize(reduction::Y, {});
    expect_finding(graph, "reduction.c02",
                   {ATTRIBUTE_NOT_SET, "sum", "Y", "no dims on the result Y", "dims that say what is reduced",
                    "call set_dim() on the result with 1 in each dim to reduce and the operand's size in the others"});
}

TEST_CASE("reduction.c03: a result of another rank") {
    TestGraph graph = reduction_graph();
    graph.resize(reduction::Y, {2, 4});
    expect_finding(graph, "reduction.c03",
                   {INVALID_VALUE, "sum", "Y", "Y with 2 dims [2, 4]", "3 dims, as X has with [2, 3, 4]",
                    "keep reduced dims, with size 1"});
}

TEST_CASE("reduction.c04: a size that does not divide") {
    TestGraph graph = reduction_graph();
    graph.resize(reduction::X, {2, 6, 4});
    graph.resize(reduction::Y, {2, 3, 4});
    expect_valid(graph);
    graph.resize(reduction::Y, {2, 4, 4});
    expect_finding(graph, "reduction.c04",
                   {INVALID_VALUE, "sum", "Y", "size 4 in dim 1 of Y with dims [2, 4, 4]", "a size that divides X's 6",
                    "use 1 to reduce the dim, or 6 to keep it"});
}
