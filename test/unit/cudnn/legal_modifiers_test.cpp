// The form of score modifiers that passes give them.
#include "unit/cudnn/legal_forms.h"

#include "api/graph_impl.h"
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

// Attention's steps up to its softmax, with a mask where the two are equal.
std::string with_mask(Tensor_ptr const& of_queries, Tensor_ptr const& of_keys) {
    auto const mask = [&](std::shared_ptr<Graph> const& graph, Tensor_ptr const& scores) {
        using cudnn_frontend::PointwiseMode_t;
        using cudnn_frontend::graph::Pointwise_attributes;
        auto const same =
            graph->pointwise(of_queries, of_keys, Pointwise_attributes().set_mode(PointwiseMode_t::CMP_EQ));
        same->set_data_type(DataType_t::BOOLEAN);
        return graph->pointwise(scores, graph->tensor(0.0f), same,
                                Pointwise_attributes().set_mode(PointwiseMode_t::BINARY_SELECT));
    };
    SmallGraph small = small_graph(SDPA_attributes().set_score_mod(mask));
    nodes::Validation validation = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(small.graph).spec);
    REQUIRE(validation.graph);
    std::string const all = kinds(cudnn::op_graph_for_cudnn(*validation.graph, kH200).value().graph);
    return all.substr(0, all.find("REDUCE_MAX"));
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
