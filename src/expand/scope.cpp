#include "expand/scope.h"

#include "nodes/schema/node_names.h"
#include "nodes/schema/schema.h"

namespace cudnn_frontend::expand {

NodeScope::NodeScope(ir::Builder& builder, UserTensors& tensors, nodes::Node const& node)
    : builder_(builder),
      tensors_(tensors),
      node_(node),
      name_(nodes::name_of_node(node)),
      compute_type_(node.compute_data_type == DataType_t::NOT_SET ? DataType_t::FLOAT : node.compute_data_type) {}

ir::ValueId NodeScope::add_table(std::string name, core::Dims dim, std::vector<double> table, DataType_t type) {
    ir::Value value{.name = std::move(name), .type = type, .dim = std::move(dim), .role = ir::Role::Constant};
    value.stride = core::packed_strides(value.dim);
    value.table = std::move(table);
    return add(std::move(value));
}

DataType_t NodeScope::compute_type_for(DataType_t result) const {
    bool const is_floating_point = result != DataType_t::INT32 && result != DataType_t::BOOLEAN;
    return is_floating_point ? compute_type() : result;
}

ir::ValueId NodeScope::repeat_row_if_needed(ir::ValueId id, std::int64_t rows, bool is_backward) {
    core::Dims const dim = value(id).dim;
    if (dim[2] > 1 || rows == 1) return id;
    bool const is_affected = dim[3] > 1 ? is_backward : dim[0] > 1;
    return is_affected ? builder_.repeated(id, 2, rows) : id;
}

}  // namespace cudnn_frontend::expand
