// Whether the results of a sequence's queries have the same bits in every batch: alone, among others, packed, in chunks
// of a prefill, over pages and in decoding.
#pragma once

#include "host_tensor.h"

#include <cudnn_frontend/graph.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace sdpa_test {

// The memory of a graph's tensors by uid.
using TensorBytes = std::map<std::int64_t, HostMemory>;
// Runs the graph on that memory, by whatever means.
using RunGraph = std::function<cudnn_frontend::error_t(cudnn_frontend::graph::Graph&, TensorBytes const&)>;

// The options of attention in addition to a causal mask.
struct InvariantOptions {
    char const* name;
    std::optional<DataType_t> bias;  // of that type, with a number for each score
    bool has_sink = false, has_softcap = false;
    std::optional<int> window;
};
// Sets of options: the empty one, each option alone, and some together.
std::span<InvariantOptions const> all_invariant_options();

// The faults for that head dim, a line each; empty if there are none.
std::string faults_of_batch_invariance(std::int64_t columns, InvariantOptions const& options, RunGraph const& run);

}  // namespace sdpa_test
