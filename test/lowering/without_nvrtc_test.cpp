// Graphs whose kernels cannot be compiled. A program of its own, since NVRTC stays loaded where a test has compiled a
// kernel.
#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/graph.h>

#include <cstdlib>
#include <string>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Tensor_attributes;

namespace {

constexpr char kReason[] =
    "NVRTC, which compiles CUDA kernels, was not found: tried /nowhere/libnvrtc.so.13 (not there); "
    "SDPA_GRAPH_NVRTC_PATH chose this library: correct it, or unset it to search the usual places";

// Causal attention that the library's own engine runs first.
Graph causal_graph() {
    constexpr std::int64_t kBatches = 4, kHeads = 16, kTokens = 2048, kColumns = 128;
    Graph graph;
    graph.set_io_data_type(DataType_t::BFLOAT16);
    auto const tokens = [&] {
        return graph.tensor(Tensor_attributes()
                                .set_dim({kBatches, kHeads, kTokens, kColumns})
                                .set_stride({kHeads * kTokens * kColumns, kTokens * kColumns, kColumns, 1}));
    };
    graph.sdpa(tokens(), tokens(), tokens(), graph::SDPA_attributes().set_causal_mask(true))[0]->set_output(true);
    return graph;
}

}  // namespace

TEST_CASE("without NVRTC attention has the first plan of cuDNN's, and the candidates say why", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    setenv("SDPA_GRAPH_NVRTC_PATH", "/nowhere/libnvrtc.so.13", 1);
    Graph graph = causal_graph();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    std::string plan;
    REQUIRE(graph.get_plan_name(plan).is_good());
    CHECK(plan.starts_with("eng"));
    Plan_candidates found;
    REQUIRE(graph.get_candidates(found).is_good());
    REQUIRE(found.candidates.front().name == "attention");
    INFO(found.candidates.front().reason);
    CHECK(found.candidates.front().reason.find(kReason) != std::string::npos);
}

TEST_CASE("without NVRTC what only the library's own kernels can do is refused with the reason", "[offline]") {
    setenv("SDPA_GRAPH_NVRTC_PATH", "/nowhere/libnvrtc.so.13", 1);
    Graph graph = causal_graph();
    graph.set_batch_invariant(true);
    std::string const error = graph.build(Target::offline("h200")).get_message();
    INFO(error);
    CHECK(error.find(kReason) != std::string::npos);
}

TEST_CASE("without NVRTC a neighborhood has no engine, and the error says what to correct", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    setenv("SDPA_GRAPH_NVRTC_PATH", "/nowhere/libnvrtc.so.13", 1);
    Graph graph;
    graph.set_io_data_type(DataType_t::BFLOAT16);
    auto const tokens = [&] {
        return graph.tensor(Tensor_attributes().set_dim({1, 24, 2, 64}).set_stride({3072, 128, 64, 1}));
    };
    auto const results = graph.neighborhood_attention(tokens(), tokens(), tokens(),
                                                      graph::Neighborhood_attributes().set_kernel_size({7}));
    results[0]->set_output(true);
    auto const error = graph.build(Target::offline("h200"));
    CHECK(error.code == error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(error.err_msg ==
          "the node is of neighborhood attention, for which cuDNN has no operation; as the only node of a graph, "
          "kernels of this library run it on a GPU, and Target::cpu() runs any graph\nkernels: " +
              std::string(kReason));
}
