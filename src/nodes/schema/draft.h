// A node under construction: ports hold the user's tensors.
#pragma once

#include "nodes/schema/node.h"

#include <cudnn_frontend/score_modifier.h>

namespace cudnn_frontend {
namespace nodes {

// The ports beyond the last one of `ports` are not connected: attention has many, of which a graph uses few. Score
// modifiers are called when the node is added to the graph: they become nodes of the graph then.
struct Draft : BasicNode<std::shared_ptr<graph::Tensor_attributes>> {
    detail::Score_modifier score_mod, score_mod_bprop;
};

}  // namespace nodes
}  // namespace cudnn_frontend
