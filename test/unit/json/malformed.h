// Documents that are not graphs, each with a line of its error.
#pragma once

#include <string>
#include <vector>

namespace cudnn_frontend::test {

// Whether the JSON Schema refuses the document too. It cannot express that a tensor exists, and gets only valid JSON.
enum class Schema { Refuses, CannotSay };

struct Malformed {
    std::string text;
    std::string error;  // a line of the message
    Schema schema = Schema::Refuses;
};

std::vector<Malformed> malformed_documents();

}  // namespace cudnn_frontend::test
