// The measured figures of GPUs, and the expected times of cuDNN's engines by them.
#include "cudnn/planning/cudnn_costs.h"

#include "api/graph/graph_impl.h"
#include "cuda/device_facts.h"
#include "kernels/kernel_costs.h"
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
        auto const of_cudnn = cudnn::read_rates(text);
        REQUIRE(of_cudnn);
        CHECK(of_cudnn->backward_192_128_tile);
        CHECK(of_cudnn->backward_192_128_deterministic_tile);
        auto const of_kernels = kernels::read_rates(text);
        REQUIRE(of_kernels);
        CHECK(of_kernels->tiles);
        CHECK(of_kernels->warpgroups);
    }
    CHECK(cuda::rates_of_model("abacus").empty());
}

TEST_CASE("head dims of 192 and 128 have tiles of their own in backward, where they were measured") {
    auto const cost = [](std::string const& rates, std::int64_t columns, std::int64_t of_v, bool is_deterministic) {
        auto backward = test::backward_graph(columns, of_v, is_deterministic);
        return cudnn::CudnnCosts(*cudnn::read_rates(rates), 132).of(validated(backward.graph)).value();
    };
    std::string const measured =
        std::string(kText) + "backward_192_128_tile 20\nbackward_192_128_deterministic_tile 10\n";
    CHECK(cost(measured, 192, 128, true) < cost(measured, 192, 128, false));
    CHECK(cost(measured, 192, 128, false) > cost(kText, 192, 128, false));
    CHECK(cost(kText, 192, 128, true) == cost(kText, 192, 128, false));
    CHECK(cost(measured, 128, 128, true) == cost(measured, 128, 128, false));
    CHECK(cost(measured, 128, 192, true) == cost(kText, 128, 192, false));
}

TEST_CASE("cuDNN knows what attention costs; of what others run it says nothing") {
    cudnn::CudnnCosts const costs(*cudnn::read_rates(kText), 132);
    auto few_queries = test::few_queries_graph(DataType_t::HALF);
    CHECK(costs.of(validated(few_queries.graph)));
    CHECK_FALSE(costs.of(neighborhoods()));
    CHECK_FALSE(costs.of(rewrite::Sum{}));
}
