// GraphSpec <-> JSON text, driven by the node schema. No other layer sees the JSON library.
#pragma once

#include "core/result.h"
#include "nodes/schema/graph_spec.h"

#include <cudnn_frontend/explanation.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace cudnn_frontend::json {

// In version 1 the nodes of a score modifier are among the graph's, in version 2 within their attention.
inline constexpr std::int64_t kFlatVersion = 1;
inline constexpr std::int64_t kFormatVersion = 2;

// Indented by two spaces, keys in a fixed order, only fields that differ from their defaults. The version is the lowest
// that says where score modifiers belong.
std::string write_graph(nodes::GraphSpec spec);
// The graph without names: equal texts are of graphs that compute the same.
std::string write_computation(nodes::GraphSpec spec);
// The graph in version 1, whatever it has.
std::string write_flat_graph(nodes::GraphSpec spec);

// Unknown members and values are errors, located by a JSON pointer.
Result<nodes::GraphSpec> read_graph(std::string_view text);

// The JSON Schema of the format, made from the node schema.
std::string graph_json_schema();

std::string write_report(Report const& report);
std::string write_advice(Advice const& advice);
std::string write_explanation(Explanation const& explanation);

// The content of a kernel cache as JSON text.
struct StoredKernels {
    std::size_t cudnn_version = 0;             // 91900 for 9.19.0
    std::map<std::string, std::string> parts;  // cuDNN's own text, by graph and device
};

std::string write_kernels(StoredKernels const& kernels);

// Unknown members and values are errors, located by a JSON pointer.
Result<StoredKernels> read_kernels(std::string_view text);

}  // namespace cudnn_frontend::json
