#include "support/catch.h"
#include "unit/ir/values.h"

#include "core/data_type.h"

using namespace cudnn_frontend;
using namespace cudnn_frontend::test;

namespace {

std::vector<std::string> labels(std::vector<ir::NamedValue> const& operands) {
    std::vector<std::string> names;
    for (ir::NamedValue const& operand : operands) names.emplace_back(operand.label);
    return names;
}

}  // namespace

TEST_CASE("bindings are the caller's memory without views, ascending by uid") {
    ir::Builder builder;
    auto const out = builder.add(output("y", {1, 1, 3, 2}, 7));
    auto const in = builder.add(input("x", {1, 1, 2, 3}, 9));
    ir::Value by_value = make_value(ir::Role::ByValue, "factor", {1, 1, 1, 1}, 0);
    auto const factor = builder.add(by_value);
    auto const half = builder.constant("half", detail::make_scalar(0.5f));
    auto const scaled = builder.add(temporary("scaled", {1, 1, 3, 2}));
    builder.add(pointwise(PointwiseMode_t::MUL, builder.transposed(in, 2, 3), factor, scaled));
    builder.add(pointwise(PointwiseMode_t::MUL, scaled, half, out));

    auto const graph = std::move(builder).finish();
    REQUIRE(graph.error().get_message() == "");
    auto const& bindings = graph.value().bindings();
    REQUIRE(bindings.size() == 3);
    CHECK(bindings[0].uid == 0);
    CHECK(bindings[0].value == factor);
    CHECK(bindings[1].uid == 7);
    CHECK(bindings[1].value == out);
    CHECK(bindings[2].uid == 9);
    CHECK(bindings[2].value == in);
}

TEST_CASE("a transposed view exchanges dims and strides and shows the storage of its value") {
    ir::Builder builder;
    auto const k = builder.add(input("K", {2, 3, 5, 4}, 1));
    auto const kt = builder.transposed(k, 2, 3);
    auto const again = builder.transposed(kt, 0, 1);
    auto const out = builder.add(output("y", {3, 2, 4, 5}, 2));
    builder.add(pointwise(PointwiseMode_t::IDENTITY, again, out));
    auto const result = std::move(builder).finish();
    REQUIRE(result.error().get_message() == "");
    ir::OpGraph const& graph = result.value();

    CHECK(graph.value(kt).name == "K^T");
    CHECK(graph.value(kt).dim == core::Dims{2, 3, 4, 5});
    CHECK(graph.value(kt).stride == core::Dims{60, 20, 1, 4});
    CHECK(graph.value(again).dim == core::Dims{3, 2, 4, 5});
    CHECK(graph.storage_of(again) == k);
    CHECK(graph.storage_of(out) == out);
}

TEST_CASE("constants are scalars of four dims that need no pointer") {
    ir::Builder builder;
    auto const id = builder.constant("minus", detail::make_scalar(std::int64_t{-3}));
    CHECK(builder.value(id).role == ir::Role::Constant);
    CHECK(builder.value(id).type == DataType_t::INT64);
    CHECK(builder.value(id).dim == core::Dims{1, 1, 1, 1});
    CHECK(core::to_integer(builder.value(id).constant) == -3);
}

TEST_CASE("operands are listed in a fixed order, those that are not connected left out") {
    ir::MatmulOp matmul;
    matmul.a = 3;
    matmul.b = 1;
    matmul.c = 4;
    matmul.k_override = 0;
    CHECK(labels(ir::inputs_of(op(matmul))) == std::vector<std::string>{"a", "b", "k_override"});
    CHECK(ir::inputs_of(op(matmul))[1].value == 1);
    CHECK(labels(ir::outputs_of(op(matmul))) == std::vector<std::string>{"c"});

    ir::SdpaBackwardOp backward;
    for (Port const port : {Port::DV, Port::Stats, Port::DBias, Port::Q}) backward.operands[port] = 0;
    CHECK(labels(ir::inputs_of(op(backward))) == std::vector<std::string>{"q", "stats"});
    CHECK(labels(ir::outputs_of(op(backward))) == std::vector<std::string>{"d_v", "d_bias"});

    ir::Op const select = pointwise(PointwiseMode_t::BINARY_SELECT, 5, 6, 7);
    CHECK(labels(ir::inputs_of(select)) == std::vector<std::string>{"in_0", "in_1"});
    CHECK(labels(ir::outputs_of(select)) == std::vector<std::string>{"out"});
}

TEST_CASE("operations have the names of what they do") {
    CHECK(std::string(ir::kind_name(op(ir::MatmulOp{}))) == "MATMUL");
    CHECK(std::string(ir::kind_name(pointwise(PointwiseMode_t::CMP_GE, 0, 1, 2))) == "CMP_GE");
    CHECK(std::string(ir::kind_name(op(ir::ReductionOp{.mode = ReductionMode_t::MUL_NO_ZEROS}))) ==
          "REDUCE_MUL_NO_ZEROS");
    CHECK(std::string(ir::kind_name(op(ir::ReductionOp{.mode = ReductionMode_t::MAX}))) == "REDUCE_MAX");
    CHECK(std::string(ir::kind_name(op(ir::RngOp{}))) == "RNG");
    CHECK(std::string(ir::kind_name(op(ir::ReshapeOp{}))) == "RESHAPE");
    CHECK(std::string(ir::kind_name(op(ir::PagedLoadOp{}))) == "PAGED_LOAD");
    CHECK(std::string(ir::kind_name(op(ir::BlockMaskOp{}))) == "BLOCK_MASK");
    CHECK(std::string(ir::kind_name(op(ir::BlockDequantizeOp{}))) == "BLOCK_DEQUANTIZE");
    CHECK(std::string(ir::kind_name(op(ir::BlockQuantizeOp{}))) == "BLOCK_QUANTIZE");
    CHECK(std::string(ir::kind_name(op(ir::WindowProductOp{.part = ir::WindowPart::Slots}))) == "WINDOW_SLOTS");
    CHECK(std::string(ir::kind_name(op(ir::WindowProductOp{.part = ir::WindowPart::Queries}))) == "WINDOW_QUERIES");
    CHECK(std::string(ir::kind_name(op(ir::WindowProductOp{.part = ir::WindowPart::Keys}))) == "WINDOW_KEYS");
    CHECK(std::string(ir::kind_name(op(ir::WindowBiasOp{}))) == "WINDOW_BIAS");
    CHECK(std::string(ir::kind_name(op(ir::WindowBiasSumOp{}))) == "WINDOW_BIAS_SUM");
    CHECK(std::string(ir::kind_name(op(ir::NeighborhoodOp{}))) == "NEIGHBORHOOD_FORWARD");
    CHECK(std::string(ir::kind_name(op(ir::NeighborhoodOp{.function = neighborhood::Function::AvBackward}))) ==
          "NEIGHBORHOOD_AV_BACKWARD");
    CHECK(std::string(ir::kind_name(op(ir::SdpaForwardOp{}))) == "SDPA_FORWARD");
    CHECK(std::string(ir::kind_name(op(ir::SdpaBackwardOp{}))) == "SDPA_BACKWARD");
}
