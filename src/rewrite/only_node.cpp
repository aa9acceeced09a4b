#include "rewrite/only_node.h"

namespace cudnn_frontend::rewrite {

View OnlyNode::view(int port) const {
    nodes::TensorId const id = node().ports[static_cast<std::size_t>(port)];
    nodes::TensorSpec const& tensor = graph_->tensors[static_cast<std::size_t>(id)];
    return {{Place::Of::Tensor, static_cast<std::size_t>(id), 0},
            tensor.data_type,
            tensor.dim,
            tensor.stride,
            tensor.alignment};
}

error_t refusal(char const* rewrite, std::string const& conditions) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            std::string("the rewrite ") + rewrite + " does not apply; it needs:" + conditions};
}

}  // namespace cudnn_frontend::rewrite
