// Graphs that tests plan for described GPUs: their inputs, and the names of their plans.
#pragma once

#include "support/catch.h"

#include <cudnn_frontend/graph.h>

#include <memory>
#include <string>
#include <vector>

namespace sdpa_test {

// A tensor whose elements lie in turn.
inline std::shared_ptr<cudnn_frontend::graph::Tensor_attributes> input(
    cudnn_frontend::graph::Graph& graph, char const* name, std::vector<std::int64_t> const& dim,
    cudnn_frontend::DataType_t type = cudnn_frontend::DataType_t::NOT_SET) {
    std::vector<std::int64_t> stride(dim.size(), 1);
    for (std::size_t i = dim.size() - 1; i-- > 0;) stride[i] = stride[i + 1] * dim[i + 1];
    auto attributes = cudnn_frontend::graph::Tensor_attributes().set_name(name).set_dim(dim).set_stride(stride);
    if (type != cudnn_frontend::DataType_t::NOT_SET) attributes.set_data_type(type);
    return graph.tensor(attributes);
}

// The names of all candidates on an H200.
inline std::vector<std::string> names_of(cudnn_frontend::graph::Graph graph,
                                         std::vector<cudnn_frontend::HeurMode_t> const& modes = {
                                             cudnn_frontend::HeurMode_t::A}) {
    CHECK(graph.build_operation_graph(cudnn_frontend::Target::offline("h200")).get_message() == "");
    CHECK(graph.create_execution_plans(modes).get_message() == "");
    std::vector<std::string> names(static_cast<std::size_t>(graph.get_execution_plan_count()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(graph.get_plan_name_at_index(static_cast<std::int64_t>(i), names[i]).get_message() == "");
    }
    return names;
}

inline std::string name_of(cudnn_frontend::graph::Graph const& graph) {
    std::string name;
    CHECK(graph.get_plan_name(name).get_message() == "");
    return name;
}

}  // namespace sdpa_test
