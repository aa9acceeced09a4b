// Limits on forward attention of FLOAT tensors.
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

using cudnn_frontend::DataType_t;
using test::AttentionGraph;
using test::resize;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

std::string ids(AttentionGraph const& graph, int sm = 90, std::size_t version = 91900) {
    return test::limit_ids(graph, {.cudnn_version = version, .sm = sm});
}

AttentionGraph of_floats(AttentionGraph graph) {
    for (int const port : {Port::Q, Port::K, Port::V, Port::O}) graph.tensor(port).data_type = DataType_t::FLOAT;
    return graph;
}

AttentionGraph of_heads(std::int64_t qk, std::int64_t v) {
    return test::with_head_dims(of_floats(AttentionGraph::forward()), qk, v);
}

}  // namespace

TEST_CASE("cudnn.s76: FLOAT and dropout", "[support]") {
    for (AttentionGraph const& dropping :
         {AttentionGraph::forward().dropout(0.5f), AttentionGraph::forward().dropout_mask()}) {
        CHECK(ids(dropping) == "");
        CHECK(ids(of_floats(dropping)) == "cudnn.s76");
    }
}

TEST_CASE("cudnn.s77: wide heads of FLOAT", "[support]") {
    for (int const sm : {80, 90, 100}) {
        CHECK(ids(of_heads(256, 128), sm) == "");
        CHECK(ids(of_heads(128, 136), sm) == "cudnn.s77");
    }
    for (int const sm : {86, 89, 120}) {
        CHECK(ids(of_heads(128, 128), sm) == "");
        CHECK(ids(of_heads(136, 128), sm) == "cudnn.s77");
    }
}

TEST_CASE("cudnn.s78: one query of FLOAT", "[support]") {
    AttentionGraph graph = AttentionGraph::forward();
    resize(graph, {Port::Q, Port::O}, 2, 1);
    resize(graph, {Port::K}, 1, 4);
    CHECK(ids(of_floats(graph)) == "");
    resize(graph, {Port::K}, 1, 2);
    CHECK(ids(graph) == "");
    CHECK(ids(of_floats(graph)) == "cudnn.s78");
}

TEST_CASE("cudnn.s79: FLOAT and a sink token", "[support]") {
    AttentionGraph const graph =
        of_floats(AttentionGraph::forward().connect(Port::SinkToken, DataType_t::FLOAT, {1, 4, 1, 1}));
    CHECK(ids(graph, 90, 91900) == "");
    CHECK(ids(graph, 90, 91801) == "cudnn.s79");
}

TEST_CASE("cudnn.s83: FLOAT and the unified operation", "[support]") {
    using enum cudnn_frontend::AttentionImplementation_t;
    CHECK(ids(AttentionGraph::forward().implementation(UNIFIED)) == "");
    CHECK(ids(of_floats(AttentionGraph::forward())) == "");
    CHECK(ids(of_floats(AttentionGraph::forward().implementation(COMPOSITE))) == "");
    CHECK(ids(of_floats(AttentionGraph::forward().implementation(UNIFIED))) == "cudnn.s83");
    CHECK(ids(of_floats(AttentionGraph::forward().implementation(UNIFIED)), 100, 92800) == "cudnn.s83");
    auto unfused = of_floats(AttentionGraph::forward());
    unfused.unfuse_multiplication();
    CHECK(ids(unfused, 100, 92800) == "cudnn.s83");
}
