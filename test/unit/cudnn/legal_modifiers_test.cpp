// The form of score modifiers that passes give them.
#include "unit/cudnn/legal_forms.h"

#include "api/graph/graph_impl.h"
#include "cudnn/planning/lowering.h"

#include <cudnn_frontend/score_modifiers.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <memory>
#include <string>
#include <vector>

using namespace test;
namespace ready = cudnn_frontend::graph::attn::score_modifiers;

namespace {

Tensor_ptr of_type(DataType_t type, std::vector<std::int64_t> const& dim) {
    return std::make_shared<Tensor_attributes>(
        Tensor_attributes().set_dim(dim).set_stride(core::packed_strides(dim)).set_data_type(type));
}

using cudnn_frontend::PointwiseMode_t;
using cudnn_frontend::graph::Pointwise_attributes;
using GraphPtr = std::shared_ptr<Graph>;

Tensor_ptr typed(Tensor_ptr const& tensor, DataType_t type) {
    tensor->set_data_type(type);
    return tensor;
}

// Returns the steps of attention with a modifier, up to its softmax.
template <class Modifier>
std::string with_modifier(Modifier const& modifier) {
    SmallGraph small = small_graph(SDPA_attributes().set_score_mod(modifier));
    nodes::Validation validation = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(small.graph).spec);
    REQUIRE(validation.graph);
    std::string const all = kinds(cudnn::op_graph_for_cudnn(*validation.graph, kH200).value().graph);
    return all.substr(0, all.find("REDUCE_MAX"));
}

// The modifier replaces scores by 0 where the predicate does not hold.
template <class Predicate>
std::string with_mask_by(Predicate const& predicate) {
    return with_modifier([&](GraphPtr const& graph, Tensor_ptr const& scores) {
        return graph->pointwise(scores, graph->tensor(0.0f), predicate(*graph, scores),
                                Pointwise_attributes().set_mode(PointwiseMode_t::BINARY_SELECT));
    });
}

// The mask keeps scores where the two are equal.
std::string with_mask(Tensor_ptr const& of_queries, Tensor_ptr const& of_keys) {
    return with_mask_by([&](Graph& graph, Tensor_ptr const&) {
        auto const equal = Pointwise_attributes().set_mode(PointwiseMode_t::CMP_EQ);
        return typed(graph.pointwise(of_queries, of_keys, equal), DataType_t::BOOLEAN);
    });
}

}  // namespace

TEST_CASE("A mask computes one of two tensors that it compares, where both are integers in memory", "[passes]") {
    auto const integers = [](std::vector<std::int64_t> const& dim) { return of_type(DataType_t::INT32, dim); };
    CHECK(with_mask(integers({2, 1, 6, 1}), integers({2, 1, 1, 10})) ==
          "MATMUL GEN_INDEX SUB ADD CMP_EQ BINARY_SELECT ");
    CHECK(with_mask(of_type(DataType_t::INT64, {2, 1, 6, 1}), integers({2, 1, 1, 10})) ==
          "MATMUL GEN_INDEX SUB ADD CMP_EQ BINARY_SELECT ");
    CHECK(with_mask(of_type(DataType_t::FLOAT, {2, 1, 6, 1}), of_type(DataType_t::FLOAT, {2, 1, 1, 10})) ==
          "CMP_EQ MATMUL BINARY_SELECT ");
}

TEST_CASE("What is read as true or false becomes BOOLEAN", "[passes]") {
    using enum PointwiseMode_t;
    auto const step = [](PointwiseMode_t mode) { return Pointwise_attributes().set_mode(mode); };
    auto const index = [&](Graph& graph, Tensor_ptr const& scores, std::int64_t axis) {
        return typed(graph.pointwise(scores, step(GEN_INDEX).set_axis(axis)), DataType_t::INT32);
    };
    // row >= column and row >= 3, as INT32 or as BOOLEAN
    auto const masked = [&](DataType_t type) {
        return with_mask_by([&](Graph& graph, Tensor_ptr const& scores) {
            auto const row = index(graph, scores, 2);
            auto const sees = typed(graph.pointwise(row, index(graph, scores, 3), step(CMP_GE)), type);
            auto const late = typed(graph.pointwise(row, graph.tensor(std::int32_t{3}), step(CMP_GE)), type);
            return typed(graph.pointwise(sees, late, step(LOGICAL_AND)), type);
        });
    };
    CHECK(masked(DataType_t::INT32) == masked(DataType_t::BOOLEAN));
    CHECK(masked(DataType_t::INT32) == "MATMUL GEN_INDEX GEN_INDEX CMP_GE CMP_GE LOGICAL_AND BINARY_SELECT ");
    // every second row, and one bit for each score
    CHECK(with_mask_by([&](Graph& graph, Tensor_ptr const& scores) {
              auto const two = graph.tensor(std::int32_t{2});
              return typed(graph.pointwise(index(graph, scores, 2), two, step(MOD)), DataType_t::INT32);
          }) == "MATMUL GEN_INDEX MOD CMP_NEQ BINARY_SELECT ");
    auto const bits = of_type(DataType_t::INT32, {1, 1, 6, 10});
    CHECK(with_mask_by([&](Graph&, Tensor_ptr const&) { return bits; }) ==
          "MATMUL GEN_INDEX SUB ADD CMP_NEQ BINARY_SELECT ");
    // a number that is added up, too
    CHECK(with_modifier([&](GraphPtr const& graph, Tensor_ptr const& scores) {
              auto const sees =
                  typed(graph->pointwise(index(*graph, scores, 2), index(*graph, scores, 3), step(CMP_GE)),
                        DataType_t::INT32);
              auto const sum = typed(graph->pointwise(scores, sees, step(ADD)), DataType_t::FLOAT);
              return graph->pointwise(sum, graph->tensor(0.0f), sees, step(BINARY_SELECT));
          }) == "MATMUL GEN_INDEX GEN_INDEX CMP_GE ADD CMP_NEQ BINARY_SELECT ");
}
