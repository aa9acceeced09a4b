// Graphs for the tests of JSON. Most are not valid attention: JSON also carries graphs that rules refuse.
#pragma once

#include "nodes/schema/graph_spec.h"

#include <cstdint>
#include <vector>

namespace cudnn_frontend::test {

// Legal values of the field, including its default; and null if it can be null.
std::vector<nodes::FieldValue> values_for(nodes::Field const& field);

// Two tensors and one node of each kind, everything at its default.
nodes::GraphSpec plain_spec();

// Forward attention with a causal mask and ragged lengths, as a program would write it.
nodes::GraphSpec attention_spec();

// Any number of tensors and nodes, any field set to anything legal, any port connected.
nodes::GraphSpec random_spec(std::uint64_t seed);

}  // namespace cudnn_frontend::test
