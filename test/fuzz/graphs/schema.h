// What docs/graph.schema.json says a document may hold.
#pragma once

#include "fuzz/bytes.h"
#include "fuzz/graphs/graph_case.h"

namespace fuzz {

// The properties of a tensor, by name.
Json const& tensor_properties();
// Of a node: its "inputs" and "outputs" by port, its "fields" by name. Null for an unknown tag.
Json const& node_properties(std::string const& tag, char const* part);
std::vector<std::string> const& node_tags();
// A value that the description allows; mostly, since edges of ranges are among them.
Json value_for(Json const& description, Bytes& bytes);

}  // namespace fuzz
