// cuDNN has no operation for neighborhood attention, and its backend says so before it asks cuDNN anything.
#include "unit/cudnn/legal_forms.h"

#include "api/graph/graph_impl.h"
#include "cudnn/planning/lowering.h"
#include "support/catch.h"

using namespace test;
using cudnn_frontend::graph::Graph;
using cudnn_frontend::graph::Neighborhood_attributes;
using cudnn_frontend::graph::Tensor_attributes;

TEST_CASE("a node of neighborhood attention is refused by name", "[passes]") {
    Graph graph;
    graph.set_io_data_type(DataType_t::HALF);
    auto const tokens = [&] {
        return graph.tensor(Tensor_attributes().set_dim({1, 6, 9, 2, 8}).set_stride({864, 144, 16, 8, 1}));
    };
    auto const windows = Neighborhood_attributes().set_name("neighbors").set_kernel_size({3, 5});
    graph.neighborhood_attention(tokens(), tokens(), tokens(), windows)[0]->set_output(true);
    nodes::Validation const validation = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(graph).spec);
    REQUIRE(validation.graph);
    auto const refused = cudnn::op_graph_for_cudnn(*validation.graph, kH200);
    REQUIRE(refused.is_bad());
    CHECK(refused.error().get_code() == cudnn_frontend::error_code_t::GRAPH_NOT_SUPPORTED);
    CHECK(refused.error().where.node == "neighbors");
    CHECK(refused.error().get_message() ==
          "the node is of neighborhood attention, for which cuDNN has no operation; as the only node of a graph, "
          "kernels of this library run it on a GPU, and Target::cpu() runs any graph");
}
