// GraphSpec <-> JSON text, driven by the node schema. The only place that sees the JSON library.
#pragma once

#include "core/result.h"
#include "nodes/schema/graph_spec.h"

#include <cudnn_frontend/advice.h>

#include <string>
#include <string_view>

namespace cudnn_frontend::json {

// Two spaces of indent, keys in a fixed order, a line for each field that differs from its default.
std::string write_graph(nodes::GraphSpec const& spec);

// Refuses what it does not know: an error names the JSON pointer of the place.
Result<nodes::GraphSpec> read_graph(std::string_view text);

// The JSON Schema of the format, made from the node schema.
std::string graph_json_schema();

std::string write_report(Report const& report);
std::string write_advice(Advice const& advice);

}  // namespace cudnn_frontend::json
