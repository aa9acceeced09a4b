#include "expand/scope.h"

#include "nodes/schema.h"

namespace cudnn_frontend::inline v1::expand {

// The schema's tag in lower case.
static std::string default_name(nodes::NodeKind kind) {
    std::string name = nodes::schema_of(kind).tag;
    for (char& letter : name) {
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    }
    return name;
}

NodeScope::NodeScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node)
    : builder_(builder),
      tensors_(tensors),
      node_(node),
      name_(node.name.empty() ? default_name(node.kind()) : node.name),
      compute_type_(node.compute_data_type == DataType_t::NOT_SET ? DataType_t::FLOAT : node.compute_data_type) {}

}  // namespace cudnn_frontend::inline v1::expand
