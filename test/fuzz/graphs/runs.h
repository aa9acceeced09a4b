// Builds and runs graphs on memory of exactly the size that their tensors need.
#pragma once

#include "fuzz/graphs/elements.h"
#include "fuzz/graphs/graph_document.h"

#include <cudnn_frontend/graph.h>

#include <map>
#include <optional>
#include <vector>

namespace fuzz {

using cudnn_frontend::error_t;
using cudnn_frontend::Target;
using cudnn_frontend::graph::Graph;

// A tensor of the pack.
struct Place {
    std::int64_t uid = 0;
    DataType_t type = DataType_t::NOT_SET;
    std::vector<std::int64_t> dim, stride;
    std::size_t elements = 0;  // of its memory
    bool is_output = false, is_ragged = false;
};

// Elements of inputs, by uid.
using Data = std::map<std::int64_t, std::vector<double>>;

// Empty if the graph is too large for a fuzzer, or does not determine the size of its memory.
std::optional<std::vector<Place>> places_of(Graph const& graph, GraphDocument const& c);
Data make_data(std::vector<Place> const& places, GraphDocument const& c);
// Elements from the first to the last of a tensor with these dims and strides, inclusive; empty if they are too many.
std::optional<std::int64_t> span_of(std::vector<std::int64_t> const& dim, std::vector<std::int64_t> const& stride);
// The elements of a dense tensor as indices into its memory; for a ragged one all of its memory.
std::vector<std::size_t> elements_of(Place const& place);

struct Run {
    error_t status;
    std::map<std::int64_t, std::vector<std::byte>> outputs;  // by uid
    std::string fault;  // memory written outside of outputs' elements, or written although the run failed
};
// Outputs and workspace are filled with `poison` first.
Run run(Graph const& graph, std::vector<Place> const& places, Data const& data, std::byte poison);

}  // namespace fuzz
