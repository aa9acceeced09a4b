// The facts about a node that quirks examine: an attention node, except for quirks of moves.
#pragma once

#include "cudnn/quirks/place.h"
#include "nodes/validation/validate.h"

namespace cudnn_frontend::quirks {

// The graph's settings that quirks examine.
struct Settings {
    bool dynamic_shapes = false;
};

struct AttentionFacts {
    nodes::GraphSpec const& graph;
    nodes::Node const& node;
    nodes::AttentionFields const& fields;  // defaults where the node is no attention
    bool is_backward;
    Capabilities here;
    Settings settings;

    nodes::TensorSpec const* tensor(int port) const { return graph.tensor(node, port); }
    bool has(int port) const { return tensor(port) != nullptr; }
    std::int64_t queries() const;
    std::int64_t keys() const;
    std::int64_t qk_dim() const;
    std::int64_t v_dim() const;
};

}  // namespace cudnn_frontend::quirks
