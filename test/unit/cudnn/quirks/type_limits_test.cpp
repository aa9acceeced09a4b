// Limits on data types.
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

using cudnn_frontend::AttentionImplementation_t;
using cudnn_frontend::DataType_t;
using test::AttentionGraph;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

std::string ids(AttentionGraph const& graph) { return test::limit_ids(graph, {.cudnn_version = 91900, .sm = 90}); }

AttentionGraph with_type(AttentionGraph graph, std::initializer_list<int> ports, DataType_t type) {
    for (int const port : ports) graph.tensor(port).data_type = type;
    return graph;
}

AttentionGraph forward_of(DataType_t type) {
    return with_type(AttentionGraph::forward(), {Port::Q, Port::K, Port::V, Port::O}, type);
}

}  // namespace

TEST_CASE("cudnn.s03: types of Q, K and V", "[support]") {
    CHECK(ids(forward_of(DataType_t::FLOAT)) == "");
    CHECK(ids(forward_of(DataType_t::BFLOAT16)) == "");
    auto const backward = [](DataType_t type) {
        return with_type(AttentionGraph::backward(),
                         {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV}, type);
    };
    CHECK(ids(backward(DataType_t::BFLOAT16)) == "");
    CHECK(ids(backward(DataType_t::FLOAT)) == "cudnn.s03");
}

TEST_CASE("cudnn.s13: dBias of another type than Q's", "[support]") {
    auto const graph = AttentionGraph::backward().bias({1, 4, 6, 5}).bias_gradient();
    CHECK(ids(graph) == "");
    CHECK(ids(with_type(graph, {Port::Bias}, DataType_t::FLOAT)) == "");
    CHECK(ids(with_type(graph, {Port::Bias, Port::DBias}, DataType_t::FLOAT)) == "cudnn.s13");
    CHECK(ids(with_type(graph, {Port::Bias, Port::DBias}, DataType_t::BFLOAT16)) == "cudnn.s13");
}

TEST_CASE("cudnn.s74: results and gradients of another type than Q's", "[support]") {
    CHECK(ids(with_type(AttentionGraph::forward(), {Port::O}, DataType_t::BFLOAT16)) == "");
    CHECK(ids(with_type(AttentionGraph::forward(), {Port::O}, DataType_t::FLOAT)) == "cudnn.s74");
    auto const unified = AttentionGraph::forward().implementation(AttentionImplementation_t::UNIFIED);
    CHECK(ids(unified) == "");
    CHECK(ids(with_type(unified, {Port::O}, DataType_t::BFLOAT16)) == "cudnn.s74");
    auto unfused = with_type(AttentionGraph::forward(), {Port::O}, DataType_t::BFLOAT16);
    unfused.unfuse_multiplication();
    CHECK(test::limit_ids(unfused, {.cudnn_version = 92800, .sm = 100}) == "cudnn.s74");
    CHECK(ids(with_type(forward_of(DataType_t::FLOAT), {Port::O}, DataType_t::HALF)) == "cudnn.s74");
    for (int const port : {Port::O, Port::DO, Port::DQ, Port::DK, Port::DV}) {
        CHECK(ids(with_type(AttentionGraph::backward(), {port}, DataType_t::BFLOAT16)) == "cudnn.s74");
        CHECK(ids(with_type(AttentionGraph::backward(), {port}, DataType_t::FLOAT)) == "cudnn.s74");
    }
}

TEST_CASE("cudnn.s95: lengths of 64 bits", "[support]") {
    for (auto const& graph : {AttentionGraph::forward().padding(), AttentionGraph::backward().padding()}) {
        CHECK(ids(graph) == "");
        for (int const port : {Port::SeqLenQ, Port::SeqLenKv}) {
            AttentionGraph changed = with_type(graph, {port}, DataType_t::INT64);
            CHECK(ids(changed) == "cudnn.s95");
            changed.fields().padding_mask = false;  // which leaves them without effect
            CHECK(ids(changed) == "");
        }
    }
}

TEST_CASE("cudnn.s96: Stats of 16 bits", "[support]") {
    CHECK(ids(AttentionGraph::forward().stats()) == "");
    for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16}) {
        CHECK(ids(with_type(AttentionGraph::forward().stats(), {Port::Stats}, type)) == "cudnn.s96");
    }
}
