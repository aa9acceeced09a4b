// Graphs of other sizes, for plans of a range of shapes.
#pragma once

#include "command.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sdpa {

// The sizes of a graph of attention to plan for. An empty list keeps the graph's own.
struct Size_ranges {
    std::vector<std::int64_t> batches, queries, keys;
    std::vector<std::int64_t> tokens;  // of queries and keys alike, in place of both

    bool are_empty() const { return batches.empty() && queries.empty() && keys.empty() && tokens.empty(); }
};

// "1,2,8" lists sizes, "16-100" is 16, 32, 64 and 100, and empty text has none. Throws Failure for anything else.
std::vector<std::int64_t> parse_sizes(std::string const& option, std::string const& text);

struct Resized_graph {
    std::string name;  // such as "decode.json (batch 8, keys 4096)"
    Json document;
};

// The graph of each combination, or the graph itself where the ranges are empty. Throws Failure for graphs that are not
// one node of attention, for ports without rows, and where the strides of another size are not clear.
std::vector<Resized_graph> resize_graph(std::string const& name, Json const& document, Size_ranges const& ranges);

}  // namespace sdpa
