// A node under construction: ports hold the user's tensors.
#pragma once

#include "nodes/schema/node.h"

#include <cudnn_frontend/score_modifier.h>

namespace cudnn_frontend {
namespace nodes {

// The modifiers are called when the graph takes the node: then they have become nodes of the graph.
struct Draft : BasicNode<std::shared_ptr<graph::Tensor_attributes>> {
    detail::Score_modifier score_mod, score_mod_bprop;
};

}  // namespace nodes
}  // namespace cudnn_frontend
