// Small changes of a graph's document, each of which might be the one after which it works.
#pragma once

#include "command.h"

#include <string>
#include <vector>

namespace sdpa {

struct Edit {
    int cost;          // of making it in a program, and of what it changes in the results; the least comes first
    std::string kind;  // if one works, others of the kind are not of interest
    std::string text;  // the change, as an instruction
    Json document;     // the whole graph after it
};

// Every edit that changes the document, the cheapest first.
std::vector<Edit> edits_of(Json const& document);

}  // namespace sdpa
