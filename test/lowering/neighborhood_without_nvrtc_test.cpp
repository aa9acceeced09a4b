// Neighborhood attention where its kernels cannot be compiled. A program of its own, since NVRTC stays loaded where a
// test has compiled a kernel.
#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <cstdlib>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Tensor_attributes;

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
          "kernels of this library run it on a GPU, and Target::cpu() runs any graph\n"
          "kernels: NVRTC, which compiles CUDA kernels, was not found: tried /nowhere/libnvrtc.so.13 (not there); "
          "SDPA_GRAPH_NVRTC_PATH chose this library: correct it, or unset it to search the usual places");
}
