// A graph with its tensors in the host's memory: a value, of which edits make others.
#pragma once

#include "core/result.h"
#include "nodes/schema/graph_spec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace cudnn_frontend::verification {

using core::Dims;
using nodes::TensorId;

// Bytes, and what keeps them, if it is not the caller.
struct Memory {
    std::byte* data = nullptr;
    std::shared_ptr<std::vector<std::byte>> own = nullptr;

    static Memory of(std::int64_t bytes);
};

struct Problem {
    nodes::GraphSpec spec;                    // validated: complete
    std::map<std::int64_t, Memory> memory;    // by uid, for each tensor of the pack
    std::vector<std::int64_t> left_out = {};  // uids of results that are not compared

    nodes::TensorSpec& tensor(TensorId id) { return spec.tensors[static_cast<std::size_t>(id)]; }
    nodes::TensorSpec const& tensor(TensorId id) const { return spec.tensors[static_cast<std::size_t>(id)]; }
    // The tensor's elements; null for tensors without memory: virtual ones, and numbers that are part of the graph.
    std::byte* data(TensorId id) const;
};

// The elements of a tensor.
struct Elements {
    DataType_t type = DataType_t::NOT_SET;
    Dims dim, stride;
    Dims starts;  // of a ragged tensor: where each batch entry starts
    Dims rows;    // how many rows of each batch entry exist, where not all do
    std::byte* data = nullptr;

    std::int64_t place(Dims const& index) const;
    double get(Dims const& index) const;
    void set(Dims const& index, double value) const;
    std::int64_t extent() const;  // elements of its memory, from the first to past the last

    // Calls visit(index) for each element that exists, in row-major order.
    template <class Visit>
    void for_each(Visit const& visit) const;
};

// Rows beyond a sequence's length do not exist, nor do those of a batch entry without queries or keys: a GPU may leave
// them out.
Elements elements_of(Problem const& problem, TensorId id);

// A port of attention that has the tensor; null where none has.
struct AttentionUse {
    nodes::Node const* node = nullptr;
    attention::Operand const* operand = nullptr;
    bool is_result = false;
};
AttentionUse attention_use(nodes::GraphSpec const& spec, TensorId id);

// The lengths of the sequences of queries or of keys; empty where the node does not mask by them.
Dims lengths_of(Problem const& problem, nodes::Node const& node, attention::LengthPorts const& ports);

// The results of the graph that have memory, in the order of nodes and ports.
std::vector<TensorId> all_results_of(Problem const& problem);
// The results that are compared.
std::vector<TensorId> results_of(Problem const& problem);

// B * Hq * Sq * Skv of all attention nodes, tokens times windows of neighborhoods: the work of the reference.
std::int64_t scores_of(nodes::GraphSpec const& spec);

// The reference's results by uid.
Result<std::map<std::int64_t, Memory>> run_reference(Problem const& problem);

template <class Visit>
void Elements::for_each(Visit const& visit) const {
    if (std::ranges::any_of(dim, [](std::int64_t size) { return size <= 0; })) return;
    Dims index(dim.size(), 0);
    while (true) {
        bool const exists = rows.empty() || index[2] < rows[static_cast<std::size_t>(index[0])];
        if (exists) visit(index);
        std::size_t axis = dim.size();
        while (axis > 0 && ++index[axis - 1] == dim[axis - 1]) index[--axis] = 0;
        if (axis == 0) return;
    }
}

}  // namespace cudnn_frontend::verification
