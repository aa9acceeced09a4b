// The limit on nodes that move elements.
#include "api/graph/graph_impl.h"
#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

namespace fe = cudnn_frontend;
using fe::DataType_t;
using fe::graph::Graph;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

namespace {

std::string findings(Graph const& graph, std::size_t version) {
    auto const validated = test::validated(fe::detail::Graph_access::snapshot(graph).spec);
    return fe::quirks::check(validated, {.cudnn_version = version, .sm = 100}).to_text();
}

Tensor input(Graph& graph) {
    return graph.tensor(fe::graph::Tensor_attributes()
                            .set_dim({2, 4, 64, 64})
                            .set_stride({16384, 4096, 64, 1})
                            .set_data_type(DataType_t::HALF));
}

}  // namespace

TEST_CASE("cudnn.s93: a slice, a reshape and a transpose, each with the words of the limit", "[support]") {
    Graph graph;
    auto const slices = fe::graph::Slice_attributes().set_slices({{0, 2}, {0, 4}, {0, 32}, {0, 64}}).set_name("part");
    graph.slice(input(graph), slices)->set_output(true);
    graph.reshape(input(graph), fe::graph::Reshape_attributes().set_dim({8, 64, 64}).set_name("rows"))
        ->set_output(true);
    graph.transpose(input(graph), fe::graph::Transpose_attributes().set_permutation({0, 2, 1, 3}).set_name("turned"))
        ->set_output(true);
    for (std::size_t const version : {91900, 92801}) {
        std::string const text = findings(graph, version);
        for (char const* const found :
             {"node 'part': found a SLICE node on compute capability 10.0 with cuDNN 9.",
              "node 'rows': found a RESHAPE node on", "node 'turned': found a TRANSPOSE node on"}) {
            CAPTURE(version, text);
            CHECK(text.find(std::string("[cudnn.s93] ") + found) != std::string::npos);
        }
        CHECK(text.find(
                  "; expected no slice, reshape or transpose nodes, which no engine supports. Try: say the same with "
                  "the dims, strides and address of a tensor in memory, or use Target::cpu().") != std::string::npos);
    }
}

TEST_CASE("cudnn.s93: a transpose before attention, of which the other limits say nothing", "[support]") {
    Graph graph;
    Tensor const turned = graph.transpose(
        input(graph), fe::graph::Transpose_attributes().set_permutation({0, 1, 2, 3}).set_name("turned"));
    graph.sdpa(input(graph), turned, input(graph), fe::graph::SDPA_attributes().set_generate_stats(false))[0]
        ->set_output(true)
        .set_data_type(DataType_t::HALF);
    std::string const text = findings(graph, 91900);
    CAPTURE(text);
    CHECK(text.find("[cudnn.s93] node 'turned': found a TRANSPOSE node") != std::string::npos);
    CHECK(text.find("[cudnn.s", text.find("[cudnn.s93]") + 1) == std::string::npos);
}
