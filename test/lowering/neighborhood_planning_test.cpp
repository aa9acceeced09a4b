// Neighborhood attention by the library's own kernels, planned for an H200 on machines without a GPU.
#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <string>
#include <vector>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Tensor_attributes;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kBatches = 2, kHeads = 3, kColumns = 64;
Dims const kTokens{kBatches, 24, 24, kHeads, kColumns};

void start(Graph& graph, DataType_t type) {
    graph.set_io_data_type(type).set_intermediate_data_type(DataType_t::FLOAT).set_compute_data_type(DataType_t::FLOAT);
}

Tensor_ptr input(Graph& graph, char const* name, Dims const& dim, DataType_t type = DataType_t::NOT_SET) {
    Dims stride(dim.size(), 1);
    for (std::size_t i = dim.size() - 1; i-- > 0;) stride[i] = stride[i + 1] * dim[i + 1];
    auto attributes = Tensor_attributes().set_name(name).set_dim(dim).set_stride(stride);
    if (type != DataType_t::NOT_SET) attributes.set_data_type(type);
    return graph.tensor(attributes);
}

Graph forward_graph(DataType_t type) {
    Graph graph;
    start(graph, type);
    auto const results = graph.neighborhood_attention(
        input(graph, "Q", kTokens), input(graph, "K", kTokens), input(graph, "V", kTokens),
        graph::Neighborhood_attributes().set_name("na").set_kernel_size({7, 7}).set_generate_stats(true));
    results[0]->set_output(true);
    results[1]->set_output(true).set_data_type(DataType_t::FLOAT);
    return graph;
}

Graph backward_graph(DataType_t type, bool has_bias = false) {
    Graph graph;
    start(graph, type);
    auto options = graph::Neighborhood_backward_attributes().set_name("na").set_kernel_size({7, 7});
    if (has_bias) {
        Tensor_ptr const gradient = graph.tensor(Tensor_attributes().set_name("dBias").set_output(true));
        options.set_rel_pos_bias(input(graph, "bias", {kHeads, 13, 13})).set_drel_pos_bias(gradient);
    }
    auto const results = graph.neighborhood_attention_backward(
        input(graph, "Q", kTokens), input(graph, "K", kTokens), input(graph, "V", kTokens), input(graph, "O", kTokens),
        input(graph, "dO", kTokens), input(graph, "Stats", {kBatches, 24, 24, kHeads}, DataType_t::FLOAT), options);
    for (Tensor_ptr const& result : results) result->set_output(true);
    return graph;
}

std::vector<std::string> names_of(Graph& graph) {
    CHECK(graph.build_operation_graph(Target::offline("h200")).get_message() == "");
    CHECK(graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    std::vector<std::string> names(static_cast<std::size_t>(graph.get_execution_plan_count()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(graph.get_plan_name_at_index(static_cast<std::int64_t>(i), names[i]).get_message() == "");
    }
    return names;
}

void check_stored(Graph graph) {
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    std::string name;
    REQUIRE(graph.get_plan_name(name).is_good());
    std::vector<std::uint8_t> bytes;
    REQUIRE(graph.serialize(bytes).get_message() == "");
    Graph loaded;
    loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h200")));
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    std::string loaded_name;
    REQUIRE(loaded.get_plan_name(loaded_name).is_good());
    CHECK(loaded_name == name);
    std::int64_t workspace = -1;
    std::int64_t const before = graph.get_workspace_size();
    REQUIRE(loaded.get_workspace_size(workspace).is_good());
    CHECK(workspace == before);
    std::vector<std::uint8_t> again;
    REQUIRE(loaded.serialize(again).get_message() == "");
    auto const has_code = [](std::vector<std::uint8_t> const& stored) {
        return std::string(stored.begin(), stored.end()).find(" sm_90 ") != std::string::npos;
    };
    CHECK(has_code(bytes));
    CHECK(has_code(again));

    Graph elsewhere;
    elsewhere.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("a100")));
    std::string const refusal = elsewhere.deserialize(nullptr, bytes).get_message();
    INFO(refusal);
    CHECK(refusal.find("; plan the graph again and store that plan") != refusal.npos);
}

}  // namespace

TEST_CASE("kernels for neighborhood attention are engines, the one by tiles first", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph forward = forward_graph(DataType_t::BFLOAT16);
    CHECK(names_of(forward) == std::vector<std::string>{"neighborhood_tiles", "neighborhood_tokens"});
    Graph backward = backward_graph(DataType_t::HALF);
    CHECK(names_of(backward) == std::vector<std::string>{"neighborhood_tiles", "neighborhood_tokens"});
}

TEST_CASE("a plan of neighborhood attention runs by tokens where tiles cannot", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph graph = forward_graph(DataType_t::FLOAT);
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    std::string name;
    REQUIRE(graph.get_plan_name(name).is_good());
    CHECK(name == "neighborhood_tokens");
}

TEST_CASE("gradients beside a relative position bias are computed by tokens", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph graph = backward_graph(DataType_t::BFLOAT16, true);
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    std::string name, candidates;
    REQUIRE(graph.get_plan_name(name).is_good());
    CHECK(name == "neighborhood_tokens");
    REQUIRE(graph.print_candidates(candidates).is_good());
    INFO(candidates);
    CHECK(candidates.find("tiles compute no gradients beside a bias") != candidates.npos);
}

TEST_CASE("plans of neighborhood attention are stored with their code", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    check_stored(forward_graph(DataType_t::BFLOAT16));
    check_stored(backward_graph(DataType_t::BFLOAT16));
    check_stored(backward_graph(DataType_t::FLOAT));
    check_stored(backward_graph(DataType_t::HALF, true));
}

TEST_CASE("backward keeps a number for each token in its workspace", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph forward = forward_graph(DataType_t::BFLOAT16), backward = backward_graph(DataType_t::BFLOAT16);
    REQUIRE(forward.build(Target::offline("h200")).get_message() == "");
    REQUIRE(backward.build(Target::offline("h200")).get_message() == "");
    CHECK(forward.get_workspace_size() == 0);
    CHECK(backward.get_workspace_size() == kBatches * 24 * 24 * kHeads * 4);
}
