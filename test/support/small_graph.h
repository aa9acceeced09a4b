// A forward attention graph of 2 x 4 heads, 6 queries, 10 keys, head dim 8: the start of many tests.
#pragma once

#include <cudnn_frontend/graph.h>

#include <memory>
#include <vector>

namespace test {

using cudnn_frontend::DataType_t;
using cudnn_frontend::graph::Graph;
using cudnn_frontend::graph::SDPA_attributes;
using cudnn_frontend::graph::Tensor_attributes;
using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

struct SmallGraph {
    Graph graph;
    Tensor_ptr q, k, v, o, stats;
};

inline Tensor_attributes packed_tensor(char const* name, std::int64_t heads, std::int64_t rows, std::int64_t columns) {
    return Tensor_attributes()
        .set_name(name)
        .set_dim({2, heads, rows, columns})
        .set_stride({heads * rows * columns, rows * columns, columns, 1});
}

inline SmallGraph small_graph(SDPA_attributes const& attributes = SDPA_attributes().set_name("attention"),
                              std::int64_t queries = 6) {
    SmallGraph small;
    small.graph.set_io_data_type(DataType_t::FLOAT)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
    small.q = small.graph.tensor(packed_tensor("Q", 4, queries, 8));
    small.k = small.graph.tensor(packed_tensor("K", 2, 10, 8));
    small.v = small.graph.tensor(packed_tensor("V", 2, 10, 8));
    auto const outputs = small.graph.sdpa(small.q, small.k, small.v, attributes);
    small.o = outputs[0];
    small.stats = outputs[1];
    small.o->set_output(true);
    if (small.stats) small.stats->set_output(true);
    return small;
}

// A workspace that is somewhat larger than the built graph's plan needs.
inline std::vector<double> workspace_of(Graph const& graph) {
    return std::vector<double>(static_cast<std::size_t>(graph.get_workspace_size()) / sizeof(double) + 2);
}

}  // namespace test
