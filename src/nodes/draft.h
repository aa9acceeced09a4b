// A node under construction: ports hold the user's tensors.
#pragma once

#include "nodes/node.h"

#include <memory>

namespace cudnn_frontend::inline v1 {
namespace graph {
class Tensor_attributes;
}
namespace nodes {

struct Draft : BasicNode<std::shared_ptr<graph::Tensor_attributes>> {};

}  // namespace nodes
}  // namespace cudnn_frontend::inline v1
