#include "expand/scope.h"

namespace cudnn_frontend::inline v1::expand {

static char const* kind_in_lower_case(nodes::NodeKind kind) {
    switch (kind) {
        case nodes::NodeKind::SdpaForward: return "sdpa_forward";
        case nodes::NodeKind::SdpaBackward: return "sdpa_backward";
        case nodes::NodeKind::Pointwise: return "pointwise";
        case nodes::NodeKind::Matmul: return "matmul";
        case nodes::NodeKind::Reduction: return "reduction";
    }
    return "node";
}

NodeScope::NodeScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node)
    : builder_(builder),
      tensors_(tensors),
      node_(node),
      name_(node.name.empty() ? kind_in_lower_case(node.kind()) : node.name),
      compute_type_(node.compute_data_type == DataType_t::NOT_SET ? DataType_t::FLOAT : node.compute_data_type) {}

}  // namespace cudnn_frontend::inline v1::expand
