#include "tensors.h"

#include <cstdio>
#include <cstdlib>

namespace corpus {
namespace {

void require(fe::error_t const& error) {
    if (error.is_good()) return;
    std::fprintf(stderr, "make_graphs: %s\n", error.get_message().c_str());
    std::exit(1);
}

}  // namespace

fe::graph::Graph graph_of(char const* title, DataType_t type) {
    fe::graph::Graph graph;
    graph.set_name(title)
        .set_io_data_type(type)
        .set_intermediate_data_type(DataType_t::FLOAT)
        .set_compute_data_type(DataType_t::FLOAT);
    return graph;
}

Tensor dense(fe::graph::Graph& graph, char const* name, Sizes const& dim, DataType_t type) {
    Sizes stride(dim.size(), 1);
    for (std::size_t i = dim.size() - 1; i > 0; --i) stride[i - 1] = stride[i] * dim[i];
    return graph.tensor(
        fe::graph::Tensor_attributes().set_name(name).set_dim(dim).set_stride(stride).set_data_type(type));
}

void finish(Tensor const& result, char const* name, fe::graph::Tensor_attributes const& like) {
    result->set_output(true).set_name(name).set_dim(like.get_dim()).set_stride(like.get_stride());
    if (like.get_ragged_offset())
        result->set_ragged_offset(like.get_ragged_offset())
            .set_ragged_offset_multiplier(like.get_ragged_offset_multiplier());
}

std::string json_of(fe::graph::Graph const& graph) {
    std::string text;
    require(graph.check().to_error());
    require(graph.serialize(text));
    return text.back() == '\n' ? text : text + '\n';
}

}  // namespace corpus
