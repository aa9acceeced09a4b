// Limits on ragged tensors.
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

namespace core = cudnn_frontend::core;
using cudnn_frontend::DataType_t;
using test::AttentionGraph;
using test::resize;
using test::with_head_dims;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

core::Capabilities version(std::size_t number) { return {.cudnn_version = number, .sm = 90}; }

std::string ids(AttentionGraph const& graph, core::Capabilities const& here = version(91900)) {
    return test::limit_ids(graph, here);
}

}  // namespace

TEST_CASE("cudnn.s21 and s22: ragged offsets", "[support]") {
    auto graph = AttentionGraph::forward().padding();
    pack_rows(graph, {Port::Q});
    CHECK(ids(graph, {.cudnn_version = 91801, .sm = 90}) == "cudnn.s22");
    pack_rows(graph, {Port::K, Port::V, Port::O});
    CHECK(ids(graph, {.cudnn_version = 91800, .sm = 89}) == "cudnn.s21");
    CHECK(ids(graph, {.cudnn_version = 91801, .sm = 89}) == "");
    CHECK(ids(graph, {.cudnn_version = 91400, .sm = 90}) == "");
    CHECK(ids(graph, {.cudnn_version = 91400, .sm = 120}) == "");
    auto backward = AttentionGraph::backward().padding();
    pack_rows(backward, {Port::Q, Port::K, Port::V, Port::O, Port::dO, Port::dQ, Port::dK, Port::dV});
    CHECK(ids(backward, {.cudnn_version = 91800, .sm = 100}) == "");
    CHECK(ids(backward, {.cudnn_version = 91800, .sm = 120}) == "cudnn.s21");
    CHECK(ids(backward, {.cudnn_version = 91900, .sm = 120}) == "");
}

TEST_CASE("cudnn.s22: pages are neither ragged nor dense", "[support]") {
    auto graph = AttentionGraph::forward().padding().pages(2, 2);
    CHECK(ids(graph) == "");
    pack_rows(graph, {Port::Q, Port::O});
    CHECK(ids(graph) == "");
    graph.tensor(Port::O).ragged_offset = cudnn_frontend::nodes::kNoTensor;
    CHECK(ids(graph) == "cudnn.s22");
}

TEST_CASE("cudnn.s23: ragged Stats of one query", "[support]") {
    auto graph = AttentionGraph::forward().padding().heads(2, 2).stats();
    resize(graph, {Port::Q, Port::O, Port::Stats}, 2, 1);
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::Stats});
    CHECK(ids(graph) == "cudnn.s23");
    graph.tensor(Port::Stats).ragged_offset = cudnn_frontend::nodes::kNoTensor;
    CHECK(ids(graph) == "");
}

TEST_CASE("cudnn.s24: ragged gradients that need dQ in one product", "[support]") {
    auto graph = AttentionGraph::backward().padding();
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::dO, Port::dQ, Port::dK, Port::dV});
    core::Capabilities const datacenter{.cudnn_version = 91900, .sm = 100};
    CHECK(ids(graph, datacenter) == "");
    graph.deterministic();
    CHECK(ids(graph, datacenter) == "cudnn.s24");
    CHECK(ids(graph) == "");
}

TEST_CASE("cudnn.s25 and s26: ragged gradients before 9.19", "[support]") {
    auto graph = with_head_dims(AttentionGraph::backward().padding(), 128, 64);
    std::initializer_list<int> const rows = {Port::Q,  Port::K,  Port::V,  Port::O,
                                             Port::dO, Port::dQ, Port::dK, Port::dV};
    pack_rows(graph, rows);
    CHECK(ids(graph, version(91400)) == "");
    graph.tensor(Port::dK).ragged_offset = graph.add_tensor("other", DataType_t::INT32, {3, 1, 1, 1});
    CHECK(ids(graph, version(91400)) == "cudnn.s26");
    CHECK(ids(graph) == "");
    auto large = with_head_dims(AttentionGraph::backward().padding(), 192, 64);
    pack_rows(large, rows);
    CHECK(ids(large, version(91400)) == "cudnn.s25");
    CHECK(ids(large) == "");
}

TEST_CASE("cudnn.s80: wide heads of Q and narrow ones of V, ragged", "[support]") {
    auto const ragged = [](std::int64_t qk, std::int64_t v) {
        auto graph = with_head_dims(AttentionGraph::backward().padding(), qk, v);
        pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::dO, Port::dQ, Port::dK, Port::dV});
        return graph;
    };
    CHECK(ids(ragged(200, 128)) == "cudnn.s80");
    for (std::int64_t const v : {136, 200}) CHECK(ids(ragged(200, v)) == "");
    CHECK(ids(ragged(192, 128)) == "");
    CHECK(ids(with_head_dims(AttentionGraph::backward().padding(), 200, 128)) == "");
}

TEST_CASE("cudnn.s81: K and V with other numbers of heads, ragged", "[support]") {
    auto const on = [](int sm) { return core::Capabilities{.cudnn_version = 91900, .sm = sm}; };
    auto graph = AttentionGraph::backward().heads(2, 1).padding();
    CHECK(ids(graph, on(80)) == "");
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::dO, Port::dQ, Port::dK, Port::dV});
    for (int const sm : {80, 89, 120}) CHECK(ids(graph, on(sm)) == "cudnn.s81");
    for (int const sm : {90, 100, 103}) CHECK(ids(graph, on(sm)) == "");
    auto forward = AttentionGraph::forward().heads(2, 1).padding();
    pack_rows(forward, {Port::Q, Port::K, Port::V, Port::O});
    CHECK(ids(forward, on(80)) == "");
}

TEST_CASE("cudnn.s66: rows of packed tensors that lie apart") {
    for (int const port : {Port::Q, Port::dO, Port::K, Port::dQ}) {
        auto graph = AttentionGraph::backward().padding();
        pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O, Port::dO, Port::dQ, Port::dK, Port::dV, Port::Stats});
        CHECK(ids(graph, {.cudnn_version = 91900, .sm = 120}) == "");
        for (std::size_t const axis : {0, 2}) graph.tensor(port).stride[axis] *= 2;
        graph.tensor(port).ragged_offset =
            graph.add_tensor("offset", DataType_t::INT32, {graph.tensor(Port::Q).dim[0] + 1, 1, 1, 1});
        bool const is_limited = port == Port::Q || port == Port::dO;
        CHECK(ids(graph, {.cudnn_version = 91900, .sm = 120}) == (is_limited ? "cudnn.s66" : ""));
        CHECK(ids(graph, {.cudnn_version = 91900, .sm = 100}) == "");
    }
}
