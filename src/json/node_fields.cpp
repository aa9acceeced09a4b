#include "json/document.h"

namespace cudnn_frontend::json {

std::span<nodes::Field const> node_fields() {
    using nodes::Node;
    static constexpr nodes::Field kFields[] = {
        nodes::field<Node, &Node::name>("name", "what messages call the node", true),
        nodes::field<Node, &Node::compute_data_type>("compute_data_type",
                                                     "type in which the node computes; the graph's where not set"),
    };
    return kFields;
}

}  // namespace cudnn_frontend::json
