// Changes of a graph's document in its structure: every tensor, port, field and enumerator that docs/graph.schema.json
// lists can be changed, so that new ones are tried as soon as the file has them.
#pragma once

#include "fuzz/bytes.h"
#include "fuzz/graphs/graph_case.h"

namespace fuzz {

void mutate(Json& graph, Bytes& bytes);

}  // namespace fuzz
