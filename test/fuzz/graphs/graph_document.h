// A graph with its data as text: a JSON document that can be read, shortened by hand and kept.
//   {"graph": a document as docs/json.md describes it, "seed": for the elements of inputs where nothing else is said,
//    "integers": {"<uid>": [first elements of an integer tensor]}, "elements": [[uid, index, value], ...]}
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fuzz {

using Json = nlohmann::json;

struct Element {
    std::int64_t uid;
    std::size_t index;  // in memory order
    double value;
};

struct GraphDocument {
    Json graph;
    std::uint64_t seed = 0;
    std::map<std::int64_t, std::vector<std::int64_t>> integers;
    std::vector<Element> elements;
};

std::string to_text(GraphDocument const& c);
// Throws the JSON library's exceptions on faulty text.
GraphDocument read_graph_document(std::string const& text);

}  // namespace fuzz
