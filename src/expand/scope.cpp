#include "expand/scope.h"

#include "expand/node_names.h"
#include "nodes/schema.h"

namespace cudnn_frontend::inline v1::expand {

std::string name_of_node(nodes::Node const& node) {
    if (!node.name.empty()) return node.name;
    std::string name = nodes::schema_of(node.kind()).tag;
    for (char& letter : name) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return name;
}

NodeScope::NodeScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node)
    : builder_(builder),
      tensors_(tensors),
      node_(node),
      name_(name_of_node(node)),
      compute_type_(node.compute_data_type == DataType_t::NOT_SET ? DataType_t::FLOAT : node.compute_data_type) {}

}  // namespace cudnn_frontend::inline v1::expand
