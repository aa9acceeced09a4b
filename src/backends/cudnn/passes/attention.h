// The parts of attention that expansion made of a node, found by their form. Its operations are known by what they say
// of masked pairs, which those of other nodes never do, and its own values by having no uid.
#pragma once

#include "cudnn/passes/draft.h"

#include <optional>

namespace cudnn_frontend::cudnn::passes {

// Forward: p = e / sum with e = exp(s - max). Places are those in Draft::ops.
struct Softmax {
    std::size_t product;   // q k^T
    std::size_t division;  // by the sum
    ir::ValueId max, sum;
};
std::optional<Softmax> find_softmax(Draft const& draft);

// Whether the expansion made the value, and no tensor of the user is behind it.
bool is_own(Draft const& draft, ir::ValueId id);

}  // namespace cudnn_frontend::cudnn::passes
