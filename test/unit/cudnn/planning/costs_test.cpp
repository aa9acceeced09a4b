// The measured figures of GPUs, and the expected times of cuDNN's engines by them.
#include "cudnn/planning/cost.h"

#include "api/graph_impl.h"
#include "cuda/rates.h"
#include "kernels/rates.h"
#include "support/catch.h"
#include "support/program_graphs.h"

#include <string>

using namespace cudnn_frontend;

namespace {

constexpr char kText[] =
    "# start 7 is no figure\nstart 5\nbandwidth 1e6\nforward_tile 1\nforward_width 0.01\nbackward_tile 2\n"
    "backward_width 0.02\ndecode_heads 32\n";

nodes::ValidatedGraph validated(graph::Graph& graph) {
    REQUIRE(graph.validate().get_message() == "");
    return *nodes::validate(detail::Graph_access::snapshot(graph).spec).graph;
}

nodes::ValidatedGraph neighborhoods() {
    graph::Graph graph;
    graph.set_io_data_type(DataType_t::HALF)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
    auto const input = [&] {
        return graph.tensor(graph::Tensor_attributes().set_dim({1, 64, 1, 8}).set_stride({512, 8, 8, 1}));
    };
    auto const options = graph::Neighborhood_attributes().set_name("na").set_kernel_size({7});
    graph.neighborhood_attention(input(), input(), input(), options).front()->set_output(true);
    return validated(graph);
}

}  // namespace

TEST_CASE("a rate is the number above 0 behind its whole name at the start of a line") {
    CHECK(cuda::read_rate(kText, "start") == 5.0);
    CHECK(cuda::read_rate(kText, "decode_heads") == 32.0);
    CHECK_FALSE(cuda::read_rate(kText, "forward"));
    CHECK_FALSE(cuda::read_rate(kText, "tile"));
    CHECK_FALSE(cuda::read_rate("start 0\n", "start"));
    CHECK_FALSE(cuda::read_rate("start -1\n", "start"));
    CHECK_FALSE(cuda::read_rate("start soon\n", "start"));
    CHECK_FALSE(cuda::read_rate("start", "start"));
    CHECK(cuda::read_rate("start 3", "start") == 3.0);
}

TEST_CASE("cuDNN has rates where the text has all of its figures, whatever else is there") {
    REQUIRE(cudnn::read_rates(kText));
    CHECK(cudnn::read_rates(kText)->backward_width == 0.02);
    std::string lacking = kText;
    lacking.replace(lacking.find("decode_heads"), 6, "encode");
    CHECK_FALSE(cudnn::read_rates(lacking));
    CHECK_FALSE(cudnn::read_rates(""));
}

TEST_CASE("the files of devices/rates have the figures of all backends, and of all forms that their GPUs run") {
    for (char const* const model : {"h100", "h200"}) {
        CAPTURE(model);
        std::string_view const text = cuda::rates_of_model(model);
        CHECK(cudnn::read_rates(text));
        auto const of_kernels = kernels::read_rates(text);
        REQUIRE(of_kernels);
        CHECK(of_kernels->tiles);
        CHECK(of_kernels->warpgroups);
    }
    CHECK(cuda::rates_of_model("abacus").empty());
}

TEST_CASE("cuDNN knows what attention costs; of what others run it says nothing") {
    cudnn::Costs const costs(*cudnn::read_rates(kText), 132);
    auto few_queries = test::few_queries_graph(DataType_t::HALF);
    CHECK(costs.of(validated(few_queries.graph)));
    CHECK_FALSE(costs.of(neighborhoods()));
    CHECK_FALSE(costs.of(rewrite::Sum{}));
}
