// The window of one query of neighborhood attention.
#pragma once

#include "data/memory.h"
#include "input.h"
#include "pictures/mask_picture.h"

namespace sdpa {

// The document's first node of neighborhood attention; null where it has none.
Json const* neighborhood_node(Json const& document);
// The query in the middle of space.
Sizes middle_query(Json const& document, Json const& node);

// The pairs of a query and a key that is visible to it, of one batch entry and head.
double visible_pairs(Json const& document, Json const& node);

// The keys that are visible to a query, on the last two axes of space; of a third one the query's plane is drawn. The
// graph is valid, and so is the query.
Mask_picture window_picture(Json const& document, Json const& node, Sizes const& query, std::int64_t most_rows,
                            std::int64_t most_columns);

}  // namespace sdpa
