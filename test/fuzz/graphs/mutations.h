// Structural mutations of a graph's document: every tensor, port, field and enumerator in docs/graph.schema.json can be
// changed, so that new ones are tried as soon as the file has them.
#pragma once

#include "fuzz/bytes.h"
#include "fuzz/graphs/graph_document.h"

namespace fuzz {

void mutate(Json& graph, Bytes& bytes);

}  // namespace fuzz
