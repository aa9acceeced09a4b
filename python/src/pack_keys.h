// The ways in which a pack names the tensor of a memory: by tensor, uid, name or place in a list.
#pragma once

#include "graph.h"

#include <optional>
#include <vector>

namespace binding {

// The uid of a pack's key; false for None, and for a tensor that no node uses.
bool read_key(std::vector<Need> const& needs, py::handle key, std::int64_t& uid);

// The pack by keys. A list of memory belongs to the tensors of these uids; without uids to all tensors that need
// memory, by ascending uid.
py::dict as_dictionary(Graph& graph, py::handle given, std::optional<std::vector<std::int64_t>> const& uids);

}  // namespace binding
