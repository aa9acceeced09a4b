// Limits on one query.
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

using test::AttentionGraph;
using Port = cudnn_frontend::nodes::attention::Port;
namespace core = cudnn_frontend::core;
namespace quirks = cudnn_frontend::quirks;

namespace {

std::string ids(AttentionGraph const& graph, int sm = 90) {
    return test::limit_ids(graph, {.cudnn_version = 91900, .sm = sm});
}

AttentionGraph one_query() {
    auto graph = AttentionGraph::forward();
    resize(graph, {Port::Q, Port::O}, 2, 1);
    return graph;
}

AttentionGraph masked(core::Dims const& dim) {
    AttentionGraph graph = one_query().dropout_mask();
    graph.tensor(Port::DropoutMask).dim = dim;
    graph.tensor(Port::DropoutMask).stride = core::packed_strides(dim);
    return graph;
}

AttentionGraph with_sink(AttentionGraph graph) {
    return graph.connect(Port::SinkToken, cudnn_frontend::DataType_t::FLOAT, {1, 4, 1, 1});
}

AttentionGraph backward_of_one_query() {
    auto graph = AttentionGraph::backward();
    resize(graph, {Port::Q, Port::O, Port::DO, Port::DQ, Port::Stats}, 2, 1);
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
    CHECK(ids(backward_of_one_query().bias({2, 4, 1, 1})) == "");
}

TEST_CASE("cudnn.e01: what is computed wrong where the keys of one query are split", "[support]") {
    auto const is_wrong = [](AttentionGraph const& graph) {
        auto const* const bar =
            quirks::bar_on_split_keys(test::validated(graph.spec), {.cudnn_version = 91900, .sm = 90});
        return bar != nullptr && bar->id == std::string("cudnn.e01");
    };
    CHECK(is_wrong(with_sink(one_query())));
    CHECK(is_wrong(one_query().dropout(0.5f)));
    CHECK(is_wrong(one_query().bias({1, 4, 1, 1})));
    CHECK(is_wrong(masked({1, 4, 1, 1})));
    CHECK_FALSE(is_wrong(one_query()));
    CHECK_FALSE(is_wrong(one_query().dropout(0.0f)));
    CHECK_FALSE(is_wrong(one_query().bias({1, 4, 1, 5})));
    CHECK_FALSE(is_wrong(masked({2, 4, 1, 5})));
    CHECK_FALSE(is_wrong(with_sink(AttentionGraph::forward())));
    auto modified = test::with_modifier({1, 4, 1, 1});
    CHECK_FALSE(is_wrong(modified));
    resize(modified, {Port::Q, Port::O, Port::Score, Port::ScoreMod}, 2, 1);
    CHECK(is_wrong(modified));
    CHECK_FALSE(is_wrong(backward_of_one_query().dropout(0.5f)));
}

TEST_CASE("cudnn.s89: numbers for heads and sinks beside one query in pages", "[support]") {
    auto const paged = [](std::int64_t queries, std::int64_t heads_of_keys) {
        auto graph = AttentionGraph::forward().heads(heads_of_keys, heads_of_keys);
        resize(graph, {Port::Q, Port::O}, 2, queries);
        return graph.padding().pages(2, 2);
    };
    CHECK(ids(paged(1, 2)) == "");
    CHECK(ids(with_sink(paged(1, 2))) == "cudnn.s89");
    CHECK(ids(with_sink(paged(1, 2)), 100) == "cudnn.s89");
    CHECK(ids(with_sink(paged(1, 4))) == "");
    CHECK(test::limit_ids(with_sink(paged(1, 2)), {.cudnn_version = 91400, .sm = 90}) == "");
    CHECK(ids(with_sink(paged(2, 2))) == "");
    CHECK(ids(paged(1, 2).bias({1, 4, 1, 1})) == "cudnn.s89");
    CHECK(ids(paged(1, 2).bias({1, 4, 1, 5})) == "");
}

TEST_CASE("cudnn.s16 and s89 see what modifiers read", "[support]") {
    auto const modified = [](core::Dims const& operand) {
        auto graph = test::with_modifier(operand);
        resize(graph, {Port::Q, Port::O, Port::Score, Port::ScoreMod}, 2, 1);
        return graph;
    };
    CHECK(ids(modified({2, 4, 1, 1})) == "cudnn.s16");
    CHECK(ids(modified({2, 1, 1, 1})) == "");
    CHECK(ids(modified({1, 4, 1, 1})) == "");
    CHECK(ids(modified({1, 4, 1, 1}).heads(2, 2).padding().pages(2, 2)) == "cudnn.s89");
}
