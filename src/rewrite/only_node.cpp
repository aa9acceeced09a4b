#include "rewrite/only_node.h"

namespace cudnn_frontend::rewrite {

View OnlyNode::whole(nodes::TensorId id) const {
    nodes::TensorSpec const& tensor = graph_->tensors[static_cast<std::size_t>(id)];
    return {{Place::Of::Tensor, static_cast<std::size_t>(id), 0},
            tensor.data_type,
            tensor.dim,
            tensor.stride,
            tensor.alignment};
}

Finding broken(core::Rule const& condition) { return condition.violation("", "", "", condition.summary, ""); }

error_t refusal(std::string const& rewrite, std::vector<Finding> const& findings) {
    return core::error_of(findings, "the rewrite " + rewrite + " does not apply:");
}

}  // namespace cudnn_frontend::rewrite
