// Limits on one query.
#include "support/catch.h"
#include "unit/support/limit_graphs.h"

using test::AttentionGraph;
using Port = cudnn_frontend::nodes::attention::Port;
namespace core = cudnn_frontend::core;

namespace {

std::string ids(AttentionGraph const& graph, int sm = 90) {
    return test::limit_ids(graph, {.cudnn_version = 91900, .sm = sm});
}

AttentionGraph one_query(std::int64_t keys = 5) {
    auto graph = AttentionGraph::forward();
    resize(graph, {Port::Q, Port::O}, 2, 1);
    resize(graph, {Port::K, Port::V}, 2, keys);
    return graph;
}

AttentionGraph masked(core::Dims const& dim) {
    AttentionGraph graph = one_query().dropout_mask();
    graph.tensor(Port::Dropout_mask).dim = dim;
    graph.tensor(Port::Dropout_mask).stride = core::packed_strides(dim);
    return graph;
}

}  // namespace

TEST_CASE("cudnn.s14: a dropout mask of one column for one query", "[support]") {
    CHECK(ids(masked({2, 4, 1, 1})) == "cudnn.s14");
    for (core::Dims const& dim : {core::Dims{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 4, 1, 1}, {2, 4, 1, 5}, {1, 1, 1, 5}}) {
        CHECK(ids(masked(dim)) == "");
    }
}

TEST_CASE("cudnn.s16: a bias of one column for one query", "[support]") {
    CHECK(ids(one_query().bias({2, 4, 1, 1})) == "cudnn.s16");
    for (core::Dims const& dim : {core::Dims{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 4, 1, 1}, {2, 4, 1, 5}}) {
        CHECK(ids(one_query().bias(dim)) == "");
    }
    auto backward = AttentionGraph::backward();
    resize(backward, {Port::Q, Port::O, Port::dO, Port::dQ, Port::Stats}, 2, 1);
    CHECK(ids(backward.bias({2, 4, 1, 1})) == "");
}

TEST_CASE("cudnn.s88: one query of few hundred keys and drawn dropout", "[support]") {
    for (std::int64_t const keys : {257, 321, 512}) {
        CHECK(ids(one_query(keys).dropout(0.5f)) == "cudnn.s88");
        CHECK(ids(one_query(keys).dropout(0.5f), 89) == "cudnn.s88");
        CHECK(ids(one_query(keys).dropout(0.5f), 100) == "");
        CHECK(ids(one_query(keys)) == "");
    }
    for (std::int64_t const keys : {5, 256, 513, 4096}) CHECK(ids(one_query(keys).dropout(0.5f)) == "");
    auto backward = AttentionGraph::backward();
    resize(backward, {Port::Q, Port::O, Port::dO, Port::dQ, Port::Stats}, 2, 1);
    resize(backward, {Port::K, Port::V, Port::dK, Port::dV}, 2, 321);
    CHECK(ids(backward) == "");
    CHECK(ids(backward.dropout(0.5f)) == "cudnn.s88");
    auto two_queries = one_query(321).dropout(0.5f);
    resize(two_queries, {Port::Q, Port::O}, 2, 2);
    CHECK(ids(two_queries) == "");
}

TEST_CASE("cudnn.s89 and s90: numbers for heads and sinks beside one query in pages", "[support]") {
    auto const paged = [](std::int64_t queries, std::int64_t heads_of_keys, std::int64_t keys = 5) {
        auto graph = AttentionGraph::forward().heads(heads_of_keys, heads_of_keys);
        resize(graph, {Port::Q, Port::O}, 2, queries);
        resize(graph, {Port::K, Port::V}, 2, keys);
        return graph.padding().pages(2, 2);
    };
    auto const with_sink = [](AttentionGraph graph) {
        return graph.connect(Port::Sink_token, cudnn_frontend::DataType_t::FLOAT, {1, 4, 1, 1});
    };
    CHECK(ids(paged(1, 2)) == "");
    CHECK(ids(with_sink(paged(1, 2))) == "cudnn.s89");
    CHECK(ids(with_sink(paged(1, 2)), 100) == "cudnn.s89");
    CHECK(ids(with_sink(paged(1, 4))) == "");
    CHECK(ids(with_sink(paged(1, 4, 512))) == "");
    CHECK(ids(with_sink(paged(1, 4, 513))) == "cudnn.s90");
    CHECK(test::limit_ids(with_sink(paged(1, 4, 513)), {.cudnn_version = 91400, .sm = 90}) == "");
    CHECK(ids(with_sink(paged(1, 2, 513))) == "cudnn.s89");
    CHECK(ids(with_sink(paged(2, 2))) == "");
    CHECK(ids(paged(1, 2).bias({1, 4, 1, 1})) == "cudnn.s89");
    CHECK(ids(paged(1, 2).bias({1, 4, 1, 5})) == "");
}

TEST_CASE("cudnn.s16 and s89 see what modifiers read", "[support]") {
    auto const modified = [](core::Dims const& operand) {
        auto graph = test::with_modifier(operand);
        resize(graph, {Port::Q, Port::O, Port::Score, Port::Score_mod}, 2, 1);
        return graph;
    };
    CHECK(ids(modified({2, 4, 1, 1})) == "cudnn.s16");
    CHECK(ids(modified({2, 1, 1, 1})) == "");
    CHECK(ids(modified({1, 4, 1, 1})) == "");
    CHECK(ids(modified({1, 4, 1, 1}).heads(2, 2).padding().pages(2, 2)) == "cudnn.s89");
}
