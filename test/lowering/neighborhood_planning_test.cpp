// Neighborhood attention by the library's own kernels, planned for an H200 on machines without a GPU.
#include "lowering/has_cudnn.h"
#include "lowering/plan_names.h"
#include "support/catch.h"

#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/stored_plan.h>

#include <string>
#include <vector>

using namespace cudnn_frontend;
using graph::Graph;
using graph::Tensor_attributes;
using sdpa_test::input;
using sdpa_test::name_of;
using sdpa_test::names_of;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kBatches = 2, kHeads = 3, kColumns = 64;
Dims const kTokens{kBatches, 24, 24, kHeads, kColumns};

void start(Graph& graph, DataType_t type) {
    graph.set_io_data_type(type).set_intermediate_data_type(DataType_t::FLOAT).set_compute_data_type(DataType_t::FLOAT);
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

std::string candidates_of(Graph const& graph) {
    std::string candidates;
    CHECK(graph.print_candidates(candidates).get_message() == "");
    return candidates;
}

// The graph, planned for an H200.
Graph built(Graph graph) {
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    return graph;
}

void check_stored(Graph graph, std::string const& engine, std::string const& architecture) {
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    CHECK(name_of(graph) == engine);
    std::vector<std::uint8_t> bytes;
    REQUIRE(graph.serialize(bytes).get_message() == "");
    Graph loaded;
    loaded.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("h200")));
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    CHECK(name_of(loaded) == engine);
    std::int64_t workspace = -1;
    std::int64_t const before = graph.get_workspace_size();
    REQUIRE(loaded.get_workspace_size(workspace).is_good());
    CHECK(workspace == before);
    std::vector<std::uint8_t> again;
    REQUIRE(loaded.serialize(again).get_message() == "");
    auto const has_code = [&](std::vector<std::uint8_t> const& stored) {
        return std::string(stored.begin(), stored.end()).find(" " + architecture + " ") != std::string::npos;
    };
    CHECK(has_code(bytes));
    CHECK(has_code(again));

    Stored_plan plan;
    REQUIRE(read_stored_plan(bytes, plan).get_message() == "");
    CHECK(plan.device == "NVIDIA H200");
    CHECK(plan.cudnn_version == 0);
    CHECK(plan.name == engine);
    CHECK(plan.workspace_bytes == before);
    REQUIRE(!plan.kernels.empty());
    for (std::string const& kernel : plan.kernels) CHECK(kernel.starts_with("neighborhood_"));

    Graph elsewhere;
    elsewhere.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("a100")));
    std::string const refusal = elsewhere.deserialize(nullptr, bytes).get_message();
    INFO(refusal);
    CHECK(refusal.find(" plan the graph again and store that plan") != refusal.npos);
}

}  // namespace

TEST_CASE("kernels for neighborhood attention are engines, those by warpgroups first", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    std::vector<std::string> const all{"neighborhood_warpgroups", "neighborhood_tiles", "neighborhood_tokens"};
    CHECK(names_of(forward_graph(DataType_t::BFLOAT16)) == all);
    CHECK(names_of(backward_graph(DataType_t::HALF)) == all);
}

TEST_CASE("warpgroups are for 9.0 alone, and other GPUs take tiles", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    for (char const* const device : {"h200", "a100", "b200"}) {
        bool const is_hopper = device == std::string("h200");
        for (Graph graph : {forward_graph(DataType_t::BFLOAT16), backward_graph(DataType_t::HALF)}) {
            REQUIRE(graph.build(Target::offline(device)).get_message() == "");
            CHECK(name_of(graph) == (is_hopper ? "neighborhood_warpgroups" : "neighborhood_tiles"));
            std::string const candidates = candidates_of(graph);
            INFO(candidates);
            bool const is_refused = candidates.find("warpgroups need compute capability 9.0") != candidates.npos;
            CHECK(is_refused == !is_hopper);
        }
    }
}

TEST_CASE("a plan of neighborhood attention runs by tokens where tiles cannot", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    CHECK(name_of(built(forward_graph(DataType_t::FLOAT))) == "neighborhood_tokens");
}

TEST_CASE("gradients beside a relative position bias are computed by tokens", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Graph const graph = built(backward_graph(DataType_t::BFLOAT16, true));
    CHECK(name_of(graph) == "neighborhood_tokens");
    std::string const candidates = candidates_of(graph);
    INFO(candidates);
    CHECK(candidates.find("warpgroups support no bias") != candidates.npos);
    CHECK(candidates.find("tiles compute no gradients with a bias") != candidates.npos);
}

TEST_CASE("plans of neighborhood attention are stored with their code", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    check_stored(forward_graph(DataType_t::BFLOAT16), "neighborhood_warpgroups", "sm_90a");
    check_stored(backward_graph(DataType_t::BFLOAT16), "neighborhood_warpgroups", "sm_90a");
    Graph by_tiles = backward_graph(DataType_t::BFLOAT16);
    by_tiles.deselect_engines({"neighborhood_warpgroups"});
    check_stored(std::move(by_tiles), "neighborhood_tiles", "sm_90");
    check_stored(backward_graph(DataType_t::FLOAT), "neighborhood_tokens", "sm_90");
    check_stored(backward_graph(DataType_t::HALF, true), "neighborhood_tokens", "sm_90");
}

TEST_CASE("a plan by warpgroups is refused where it is stored for another GPU", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    std::vector<std::uint8_t> bytes;
    REQUIRE(built(forward_graph(DataType_t::BFLOAT16)).serialize(bytes).get_message() == "");
    Graph elsewhere;
    elsewhere.set_device_properties(std::make_shared<DeviceProperties const>(DeviceProperties::named("b200")));
    std::string const refusal = elsewhere.deserialize(nullptr, bytes).get_message();
    INFO(refusal);
    CHECK(refusal.find("the stored plan is of the engine 'neighborhood_warpgroups', but warpgroups need compute "
                       "capability 9.0; plan the graph again and store that plan") != refusal.npos);
}

TEST_CASE("backward keeps a number for each token in its workspace, and by warpgroups two, and sums", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    constexpr std::int64_t kRows = kBatches * 24 * 24 * kHeads;
    static_assert(kRows * 8 % 256 == 0);  // the sums begin there
    CHECK(built(forward_graph(DataType_t::BFLOAT16)).get_workspace_size() == 0);
    CHECK(built(backward_graph(DataType_t::BFLOAT16)).get_workspace_size() == kRows * 4 * (2 + kColumns));
    CHECK(built(backward_graph(DataType_t::FLOAT)).get_workspace_size() == kRows * 4);
}

TEST_CASE("gradients that shall have the same bits in every run are not computed by warpgroups", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    auto const is_deterministic = [](Graph const& graph) {
        bool answer = false;
        CHECK(graph.get_is_deterministic(answer).get_message() == "");
        return answer;
    };
    CHECK(is_deterministic(built(forward_graph(DataType_t::BFLOAT16))));
    CHECK_FALSE(is_deterministic(built(backward_graph(DataType_t::BFLOAT16))));
    Graph graph = backward_graph(DataType_t::BFLOAT16);
    graph.deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC});
    graph = built(std::move(graph));
    CHECK(name_of(graph) == "neighborhood_tiles");
    CHECK(is_deterministic(graph));
    graph = forward_graph(DataType_t::BFLOAT16);
    graph.deselect_numeric_notes({NumericalNote_t::NONDETERMINISTIC});
    CHECK(name_of(built(std::move(graph))) == "neighborhood_warpgroups");
}
