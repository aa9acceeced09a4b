// Limits on options that only cuDNN's one operation for the whole of forward attention has.
#include "cudnn/quirks/support.h"

#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

using test::AttentionGraph;
using test::pack_rows;
namespace quirks = cudnn_frontend::quirks;
using cudnn_frontend::AttentionImplementation_t;
using cudnn_frontend::DataType_t;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

std::string ids(AttentionGraph const& graph, std::size_t version = 91900, int sm = 90) {
    return test::limit_ids(graph, {.cudnn_version = version, .sm = sm});
}

void tell_queries_by_sums(AttentionGraph& graph) {
    graph.padding();
    graph.node().ports[Port::SeqLenQ] = cudnn_frontend::nodes::kNoTensor;
    graph.connect(Port::CuSeqLenQ, DataType_t::INT32, {3, 1, 1, 1});
}

}  // namespace

TEST_CASE("cudnn.s69: cumulative lengths", "[support]") {
    auto forward = AttentionGraph::forward(), backward = AttentionGraph::backward();
    tell_queries_by_sums(forward);
    tell_queries_by_sums(backward);
    CHECK(ids(forward) == "cudnn.s69");
    CHECK(ids(forward, 92401) == "cudnn.s69");
    CHECK(ids(forward, 92500) == "");
    CHECK(ids(forward.implementation(AttentionImplementation_t::UNIFIED), 92500) == "");
    CHECK(ids(forward.implementation(AttentionImplementation_t::COMPOSITE), 92500) == "cudnn.s69");
    CHECK(ids(backward, 92800) == "cudnn.s69");
    forward.implementation(AttentionImplementation_t::AUTO).fp8();
    CHECK(ids(forward, 92800).find("cudnn.s69") != std::string::npos);
}

TEST_CASE("cudnn.s70: ragged offsets that count several elements as one", "[support]") {
    auto graph = AttentionGraph::forward().padding();
    pack_rows(graph, {Port::Q, Port::K, Port::V, Port::O});
    CHECK(ids(graph) == "");
    for (int const port : {Port::Q, Port::K, Port::V, Port::O}) graph.tensor(port).ragged_offset_multiplier = 32;
    CHECK(ids(graph) == "cudnn.s70");
    CHECK(ids(graph, 92301) == "cudnn.s70");
    CHECK(ids(graph, 92400) == "");
    CHECK(ids(graph.implementation(AttentionImplementation_t::COMPOSITE), 92400) == "cudnn.s70");
}

TEST_CASE("cudnn.s71: rounding between products and sums", "[support]") {
    auto graph = AttentionGraph::forward();
    graph.unfuse_multiplication();
    CHECK(ids(graph, 92800) == "cudnn.s71");
    CHECK(ids(graph, 92199, 100) == "cudnn.s71");
    CHECK(ids(graph, 92200, 100) == "");
}

TEST_CASE("cudnn.s72: options beside what the unified operation has alone", "[support]") {
    auto graph = AttentionGraph::forward().band(cudnn_frontend::DiagonalAlignment_t::TOP_LEFT, std::nullopt, 0);
    tell_queries_by_sums(graph);
    CHECK(ids(graph, 92800) == "cudnn.s72");
    CHECK(ids(graph.implementation(AttentionImplementation_t::UNIFIED), 92800) == "cudnn.s11");
    auto unfused = AttentionGraph::forward().bias({1, 1, 6, 5});
    unfused.unfuse_multiplication();
    auto const report = quirks::check(test::validated(unfused.spec), {.cudnn_version = 92800, .sm = 100}).to_text();
    CHECK(report.find("[cudnn.s72] node 'sdpa', tensor 'bias': found a bias with set_unfuse_fma(true)") !=
          std::string::npos);
}
