// Graphs of attention that tests of the library's own engine plan for described GPUs, and texts of what planning says.
#pragma once

#include "lowering/plan_names.h"
#include "support/catch.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/graph.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace engine_graphs {

using namespace cudnn_frontend;
using graph::Graph;
using graph::SDPA_attributes;
using sdpa_test::input;
using Dims = std::vector<std::int64_t>;

struct Shape {
    std::int64_t batches = 2, heads = 4, key_heads = 2, queries = 512, keys = 512, columns = 128, value_columns = 128;
    DataType_t type = DataType_t::BFLOAT16;
};

using Change = std::function<void(Graph& graph, SDPA_attributes& options)>;

inline Graph graph_of(
    Shape const& shape = {}, Change const& change = [](Graph&, SDPA_attributes&) {}) {
    Graph graph;
    graph.set_io_data_type(shape.type).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT);
    auto options = SDPA_attributes().set_name("sdpa").set_generate_stats(true).set_attn_scale(0.1f);
    change(graph, options);
    auto const results =
        graph.sdpa(input(graph, "Q", {shape.batches, shape.heads, shape.queries, shape.columns}),
                   input(graph, "K", {shape.batches, shape.key_heads, shape.keys, shape.columns}),
                   input(graph, "V", {shape.batches, shape.key_heads, shape.keys, shape.value_columns}), options);
    results[0]->set_output(true);
    if (results[1]) results[1]->set_output(true).set_data_type(DataType_t::FLOAT);
    return graph;
}

// Backward with a bias and with its gradient, each if it has dims.
struct BackwardOptions {
    Dims bias = {2, 4, 512, 512};
    Dims gradient = {};
    bool deterministic = false;
    std::optional<int> left = {}, right = {};
    std::function<void(graph::SDPA_backward_attributes&)> change = nullptr;
};

inline Graph backward_of(BackwardOptions const& options, Shape const& shape = {}) {
    Graph graph;
    graph.set_io_data_type(shape.type).set_intermediate_data_type(DataType_t::FLOAT);
    graph.set_compute_data_type(DataType_t::FLOAT);
    Dims const queries{shape.batches, shape.heads, shape.queries, shape.columns},
        keys{shape.batches, shape.key_heads, shape.keys, shape.columns};
    Dims values = keys, results = queries;
    values.back() = results.back() = shape.value_columns;
    auto attributes = graph::SDPA_backward_attributes().set_name("sdpa").set_attn_scale(0.1f);
    attributes.set_deterministic_algorithm(options.deterministic);
    if (options.change) options.change(attributes);
    if (!options.bias.empty()) attributes.set_bias(input(graph, "bias", options.bias));
    if (options.left) attributes.set_diagonal_band_left_bound(*options.left);
    if (options.right) attributes.set_diagonal_band_right_bound(*options.right);
    if (!options.gradient.empty()) {
        attributes.set_dbias(graph.tensor(input(graph, "dBias", options.gradient)->set_output(true)));
    }
    auto const stats = input(graph, "Stats", {shape.batches, shape.heads, shape.queries, 1}, DataType_t::FLOAT);
    for (auto const& result :
         graph.sdpa_backward(input(graph, "Q", queries), input(graph, "K", keys), input(graph, "V", values),
                             input(graph, "O", results), input(graph, "dO", results), stats, attributes)) {
        result->set_output(true);
    }
    return graph;
}

// Forward with a bias of that type.
inline Graph biased(Dims const& dims, Shape const& shape = {}, DataType_t type = DataType_t::NOT_SET) {
    return graph_of(
        shape, [&](Graph& graph, SDPA_attributes& options) { options.set_bias(input(graph, "bias", dims, type)); });
}

inline error_object plan(Graph& graph, char const* device, std::vector<HeurMode_t> const& modes) {
    if (auto const error = graph.build_operation_graph(Target::offline(device)); error.is_bad()) return error;
    return graph.create_execution_plans(modes);
}

// The names and remarks of all candidates by default, in a text.
inline std::string candidates_of(Graph graph, char const* device = "h100") {
    REQUIRE(plan(graph, device, {HeurMode_t::A}).get_message() == "");
    Plan_candidates list;
    REQUIRE(graph.get_candidates(list).get_message() == "");
    return list.to_text();
}

// The ids of the rules by which the engine refuses, in a text.
inline std::string ids_in(std::string const& text) {
    std::string ids;
    for (std::size_t at = text.find("[kernels."); at != text.npos; at = text.find("[kernels.", at + 1)) {
        ids += (ids.empty() ? "" : " ") + text.substr(at + 1, text.find(']', at) - at - 1);
    }
    return ids;
}

}  // namespace engine_graphs
