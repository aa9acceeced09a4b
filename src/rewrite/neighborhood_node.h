// The fused neighborhood attention that a rewrite starts from: the only node of its graph.
#pragma once

#include "rewrite/only_node.h"

namespace cudnn_frontend::rewrite {

namespace neighborhood = nodes::neighborhood;

class Neighborhood : public OnlyNode {
   public:
    // Nothing if the graph is anything else.
    static std::optional<Neighborhood> of(nodes::ValidatedGraph const& graph);

    bool is_backward() const { return node().kind() == nodes::NodeKind::NeighborhoodBackward; }
    float scale() const;

    std::int64_t batches = 0, columns = 0;
    std::vector<neighborhood::Axis> axes;

   private:
    explicit Neighborhood(nodes::GraphSpec const& graph);
};

}  // namespace cudnn_frontend::rewrite
