// Which keys are visible to which queries of a graph.
#pragma once

#include "data/memory.h"
#include "input.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpa {

struct Visibility {
    std::string source;  // how it was found
    std::string node;    // node_text()
    std::int64_t batches = 0, heads = 0, queries = 0, keys = 0;
    Sizes rows, columns;                     // the queries and keys in the picture: all, or a sample
    std::vector<std::vector<bool>> visible;  // by row and column
};

struct Visibility_options {
    std::int64_t batch = 0, head = 0;
    std::int64_t most_rows = 64, most_columns = 64;
    std::optional<std::int64_t> length_q, length_kv;  // with a padding mask; else all rows and keys
};

// The name and the tag of a node, for people.
std::string node_text(Json const& node);

// At most so many of the numbers below n, spread evenly: the first one and one for each equal part.
Sizes sample(std::int64_t n, std::int64_t most);

// Finds visible keys by running the graph where it is small enough: equal scores, and values that show which keys took
// part. Otherwise the options of its mask say them, if these determine it. Throws Failure where neither is possible.
Visibility visibility_of(Graph_file const& file, Visibility_options const& options);

}  // namespace sdpa
