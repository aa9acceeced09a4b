// What the cuDNN that is here says of block-scaled attention for Blackwell: a plan, or a limit that says why not.
#include "support/catch.h"
#include "support/small_graph.h"

#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Tensor_attributes;
using TensorPtr = std::shared_ptr<Tensor_attributes>;
using Dims = std::vector<std::int64_t>;

namespace {

bool has_cudnn() {
    static_cast<void>(test::small_graph().graph.build(Target::offline("b200")));
    if (runtime::cudnn_version() > 0) return true;
    WARN("skipped: there is no cuDNN library here");
    return false;
}

TensorPtr input(Graph& graph, Dims const& dim, DataType_t type) {
    Dims const stride{dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
    return graph.tensor(Tensor_attributes().set_dim(dim).set_stride(stride).set_data_type(type));
}

TensorPtr scales(Graph& graph, Dims const& dim, int axis) {
    TensorPtr const tensor = input(graph, mxfp8_scale_dim(dim, axis), DataType_t::FP8_E8M0);
    tensor->set_reordering_type(TensorReordering_t::F8_128x4);
    return tensor;
}

Graph forward(Dims const& dim, bool is_causal) {
    Graph graph;
    graph.set_io_data_type(DataType_t::BFLOAT16)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
    constexpr auto kType = DataType_t::FP8_E4M3;
    graph::SDPA_fp8_attributes options;
    options.set_attn_scale(0.125f).set_generate_stats(true).set_causal_mask(is_causal);
    auto const [o, stats, amax] =
        graph.sdpa_fp8(input(graph, dim, kType), input(graph, dim, kType), input(graph, dim, kType),
                       scales(graph, dim, 3), scales(graph, dim, 3), scales(graph, dim, 2), options);
    for (TensorPtr const& result : {o, stats, amax}) result->set_output(true);
    return graph;
}

Graph backward(Dims const& dim) {
    Graph graph;
    graph.set_io_data_type(DataType_t::BFLOAT16)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
    auto const narrow = [&] { return input(graph, dim, DataType_t::FP8_E4M3); };
    auto const wide = [&] { return input(graph, dim, DataType_t::BFLOAT16); };
    auto const results = graph.sdpa_fp8_backward(
        narrow(), narrow(), narrow(), narrow(), narrow(), wide(), wide(), narrow(), narrow(),
        input(graph, {dim[0], dim[1], dim[2], 1}, DataType_t::FLOAT), scales(graph, dim, 3), scales(graph, dim, 2),
        scales(graph, dim, 3), scales(graph, dim, 2), scales(graph, dim, 3), scales(graph, dim, 3),
        scales(graph, dim, 2), graph::SDPA_fp8_backward_attributes());
    for (TensorPtr const& result : results) result->set_output(true);
    return graph;
}

}  // namespace

TEST_CASE("block-scaled forward has a plan for Blackwell from cuDNN 9.21.1 on, and a limit before", "[offline]") {
    if (!has_cudnn()) return;
    for (bool const is_causal : {false, true}) {
        std::string const message = forward({2, 4, 1024, 128}, is_causal).build(Target::offline("b200")).get_message();
        if (runtime::cudnn_version() >= 92101) CHECK(message == "");
        else CHECK(message.find("cudnn.s59") != message.npos);
    }
}

TEST_CASE("block-scaled attention is refused with a limit elsewhere, of other sizes and in backward", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const device : {"a100", "h200", "l40s", "rtx5090"}) {
        CAPTURE(device);
        std::string const message = forward({2, 4, 1024, 128}, false).build(Target::offline(device)).get_message();
        CHECK(message.find("cudnn.s59") != message.npos);
    }
    struct Row {
        Graph graph;
        char const* limit;
    };
    Row rows[] = {{forward({2, 4, 1024, 192}, false), "cudnn.s61"},
                  {forward({2, 4, 1, 128}, false), "cudnn.s62"},
                  {backward({2, 4, 1024, 128}), "cudnn.s60"}};
    for (Row& row : rows) {
        CAPTURE(row.limit);
        std::string const message = row.graph.build(Target::offline("b200")).get_message();
        CHECK(message.find(row.limit) != message.npos);
    }
}
