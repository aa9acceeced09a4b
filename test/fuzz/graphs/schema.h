// The permitted content of a document according to docs/graph.schema.json.
#pragma once

#include "fuzz/bytes.h"
#include "fuzz/graphs/graph_document.h"

namespace fuzz {

// The properties of a tensor, by name.
Json const& tensor_properties();
// The "inputs" or "outputs" of a node by port, or its "fields" by name. Null for an unknown tag.
Json const& node_properties(std::string const& tag, char const* part);
std::vector<std::string> const& node_tags();
// Usually a value that the description allows; also values beyond the edges of ranges.
Json value_for(Json const& description, Bytes& bytes);

}  // namespace fuzz
