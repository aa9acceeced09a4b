// Limits on dropout masks of one column.
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

using test::AttentionGraph;
namespace core = cudnn_frontend::core;
using cudnn_frontend::DataType_t;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

std::string ids(AttentionGraph const& graph, int sm = 90, std::size_t version = 91900) {
    return test::limit_ids(graph, {.cudnn_version = version, .sm = sm});
}

AttentionGraph masked(AttentionGraph graph, core::Dims const& dim) {
    graph.dropout_mask();
    graph.tensor(Port::DropoutMask).dim = dim;
    graph.tensor(Port::DropoutMask).stride = core::packed_strides(dim);
    return graph;
}

}  // namespace

TEST_CASE("dropout masks of any dims are taken in forward", "[support]") {
    for (core::Dims const& dim : {core::Dims{1, 4, 1, 1},
                                  {1, 1, 1, 1},
                                  {2, 4, 6, 1},
                                  {1, 1, 6, 1},
                                  {2, 1, 1, 5},
                                  {2, 4, 6, 5},
                                  {2, 4, 1, 1},
                                  {2, 1, 1, 1}}) {
        CHECK(ids(masked(AttentionGraph::forward(), dim)) == "");
    }
    auto one_key = AttentionGraph::forward();
    resize(one_key, {Port::K, Port::V}, 2, 1);
    for (core::Dims const& dim : {core::Dims{1, 1, 1, 1}, {1, 4, 1, 1}, {2, 4, 1, 1}, {2, 1, 6, 1}, {2, 1, 1, 1}}) {
        CHECK(ids(masked(one_key, dim)) == "");
    }
}

TEST_CASE("cudnn.s20: a bias of one column for one query, backward", "[support]") {
    auto graph = AttentionGraph::backward();
    resize(graph, {Port::Q, Port::O, Port::DO, Port::DQ, Port::Stats}, 2, 1);
    auto of_batches = graph;
    for (int const sm : {89, 120}) {
        CHECK(ids(graph.bias({1, 4, 1, 1}), sm) == "");
        CHECK(ids(of_batches.bias({2, 4, 1, 1}), sm) == "cudnn.s20");
    }
}

TEST_CASE("cudnn.s73: a dropout mask of one column, backward", "[support]") {
    auto const alone = masked(AttentionGraph::backward(), {2, 1, 1, 1});
    CHECK(ids(alone) == "");
    CHECK(ids(alone, 100) == "");
    CHECK(ids(alone, 89) == "cudnn.s73");
    CHECK(ids(alone, 120) == "cudnn.s73");
    CHECK(ids(masked(AttentionGraph::backward(), {1, 4, 1, 1}), 89) == "");
    auto one_query = AttentionGraph::backward();
    resize(one_query, {Port::Q, Port::O, Port::DO, Port::DQ, Port::Stats}, 2, 1);
    CHECK(ids(masked(one_query, {1, 4, 1, 1}), 89) == "");
    CHECK(ids(masked(one_query, {2, 4, 1, 1}), 89) == "cudnn.s73");
    CHECK(ids(masked(one_query.bias({1, 4, 1, 1}), {2, 4, 1, 1}), 90) == "");
    CHECK(ids(masked(AttentionGraph::backward(), {2, 1, 1, 5}), 89) == "");
    auto const beside_column = masked(AttentionGraph::backward().bias({1, 4, 6, 1}), {1, 1, 6, 1});
    CHECK(ids(beside_column) == "cudnn.s73");
    CHECK(ids(beside_column, 90, 92800) == "cudnn.s73");
    CHECK(ids(beside_column, 100, 92000) == "cudnn.s73");
    CHECK(ids(beside_column, 100, 92101) == "");
    CHECK(ids(masked(AttentionGraph::backward().bias({1, 4, 1, 5}), {1, 1, 6, 1})) == "");
    CHECK(ids(masked(AttentionGraph::backward().bias({1, 4, 1, 1}), {1, 1, 6, 1})) == "");
    auto const beside_gradient = masked(AttentionGraph::backward().bias({1, 4, 6, 5}).bias_gradient(), {1, 1, 6, 1});
    CHECK(ids(beside_gradient) == "");
    CHECK(ids(beside_gradient, 100) == "cudnn.s73");
    CHECK(ids(masked(AttentionGraph::backward().bias({1, 4, 6, 5}).bias_gradient(), {1, 1, 6, 5})) == "");
}

TEST_CASE("cudnn.s33: more columns than engines read beside the stats and the rows' sums", "[support]") {
    auto const modified = test::with_modifier(cudnn_frontend::PointwiseMode_t::MUL, {2, 1, 6, 1});
    auto const beside_mask = masked(modified, {1, 1, 6, 1});
    CHECK(ids(beside_mask) == "cudnn.s33");
    CHECK(ids(beside_mask, 100, 92000) == "cudnn.s33");
    CHECK(ids(beside_mask, 100, 92101) == "");
    CHECK(ids(masked(modified, {1, 1, 6, 5})) == "");
    CHECK(ids(masked(modified, {1, 4, 1, 1})) == "");
    auto beside_bias = modified;
    CHECK(ids(beside_bias.bias({1, 4, 6, 1})) == "");
    CHECK(ids(masked(beside_bias, {1, 1, 6, 1})) == "cudnn.s33 cudnn.s73");
}

TEST_CASE("dropout masks of FLOAT are taken beside Q of another type", "[support]") {
    auto graph = masked(AttentionGraph::forward(), {2, 4, 6, 5});
    graph.tensor(Port::DropoutMask).data_type = DataType_t::FLOAT;
    CHECK(ids(graph) == "");
}
