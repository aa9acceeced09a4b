#include "cudnn/quirks/modifier_limits.h"

#include "core/data_type.h"
#include "core/index_axis.h"
#include "core/names.h"

#include <algorithm>

namespace cudnn_frontend::quirks {
namespace {

using nodes::GraphSpec;
using nodes::Node;
using nodes::PointwiseFields;
using nodes::TensorId;
namespace Pointwise = nodes::pointwise;

PointwiseFields const* pointwise_fields(Node const& node) { return std::get_if<PointwiseFields>(&node.fields); }

TensorId port(Node const& node, int at) { return node.ports[static_cast<std::size_t>(at)]; }

// The pointwise node that writes the tensor, if one does.
Node const* writer_of(GraphSpec const& graph, TensorId tensor) {
    auto const found = std::ranges::find_if(graph.nodes, [&](Node const& node) {
        return pointwise_fields(node) != nullptr && port(node, Pointwise::Out_0) == tensor;
    });
    return tensor == nodes::kNoTensor || found == graph.nodes.end() ? nullptr : &*found;
}

std::int64_t axis_of(GraphSpec const& graph, TensorId tensor) {
    return core::index_axis(tensor, [&](TensorId of) -> core::PointwiseStep<TensorId> {
        Node const* const node = writer_of(graph, of);
        if (node == nullptr) return {};
        PointwiseFields const& fields = *pointwise_fields(*node);
        return {fields.mode, fields.axis.value_or(-1), port(*node, Pointwise::In_0), port(*node, Pointwise::In_1)};
    });
}

// Selects by column > row, column >= row or row < column.
bool is_left_edge(GraphSpec const& graph, Node const& node) {
    using enum PointwiseMode_t;
    PointwiseFields const* const select = pointwise_fields(node);
    if (select == nullptr || select->mode != BINARY_SELECT) return false;
    Node const* const comparison = writer_of(graph, port(node, Pointwise::In_2));
    if (comparison == nullptr) return false;
    PointwiseMode_t const mode = pointwise_fields(*comparison)->mode;
    std::int64_t const axis = axis_of(graph, port(*comparison, Pointwise::In_0));
    return axis == 3 ? mode == CMP_GT || mode == CMP_GE : axis == 2 && mode == CMP_LT;
}

bool computes_in_integers(Node const& node) {
    PointwiseFields const* const fields = pointwise_fields(node);
    bool const is_integer = node.compute_data_type == DataType_t::INT32 || node.compute_data_type == DataType_t::INT64;
    return fields != nullptr && is_integer && fields->mode != PointwiseMode_t::GEN_INDEX;
}

nodes::TensorSpec const* first_float(GraphSpec const& graph, Node const& node) {
    for (int const port : {Pointwise::In_0, Pointwise::In_1}) {
        nodes::TensorSpec const* const operand = graph.tensor(node, port);
        if (operand != nullptr && core::is_floating_point(operand->data_type)) return operand;
    }
    return nullptr;
}

}  // namespace

Found integers_of_floats(Facts const& facts, Capabilities const&) {
    if (!facts.has(Port::Score)) return {};
    for (Node const& node : facts.graph.nodes) {
        nodes::TensorSpec const* const operand = computes_in_integers(node) ? first_float(facts.graph, node) : nullptr;
        if (operand == nullptr) continue;
        return Violation{Port::Score_mod, "'" + operand->name + "' of " + core::name_of(operand->data_type) +
                                              " in an operation that computes in " +
                                              core::name_of(node.compute_data_type)};
    }
    return {};
}

Found several_left_edges(Facts const& facts, Capabilities const&) {
    if (!facts.has(Port::Score)) return {};
    auto const in_modifier =
        std::ranges::count_if(facts.graph.nodes, [&](Node const& node) { return is_left_edge(facts.graph, node); });
    bool const has_bound = facts.fields.left_bound.has_value();
    if (in_modifier + (has_bound ? 1 : 0) < 2) return {};
    return Violation{Port::Score_mod, number(in_modifier) + " mask(s) of the left edge in the modifier, and " +
                                          (has_bound ? "a left bound" : "no left bound")};
}

}  // namespace cudnn_frontend::quirks
