#include "cudnn/quirks/quirk_rows.h"

#include "attention/index_axis.h"
#include "core/data_type.h"
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
    for (Node const& node : every_node(graph)) {
        bool const is_writer = pointwise_fields(node) != nullptr && port(node, Pointwise::Out0) == tensor;
        if (is_writer && tensor != nodes::kNoTensor) return &node;
    }
    return nullptr;
}

std::int64_t axis_of(GraphSpec const& graph, TensorId tensor) {
    return attention::index_axis(tensor, [&](TensorId of) -> attention::PointwiseStep<TensorId> {
        Node const* const node = writer_of(graph, of);
        if (node == nullptr) return {};
        PointwiseFields const& fields = *pointwise_fields(*node);
        return {fields.mode, fields.axis.value_or(-1), port(*node, Pointwise::In0), port(*node, Pointwise::In1)};
    });
}

// Selects by column > row, column >= row or row < column.
bool is_left_edge(GraphSpec const& graph, Node const& node) {
    using enum PointwiseMode_t;
    PointwiseFields const* const select = pointwise_fields(node);
    if (select == nullptr || select->mode != BINARY_SELECT) return false;
    Node const* const comparison = writer_of(graph, port(node, Pointwise::In2));
    if (comparison == nullptr) return false;
    PointwiseMode_t const mode = pointwise_fields(*comparison)->mode;
    std::int64_t const axis = axis_of(graph, port(*comparison, Pointwise::In0));
    return axis == 3 ? mode == CMP_GT || mode == CMP_GE : axis == 2 && mode == CMP_LT;
}

bool computes_in_integers(Node const& node) {
    PointwiseFields const* const fields = pointwise_fields(node);
    bool const is_integer = node.compute_data_type == DataType_t::INT32 || node.compute_data_type == DataType_t::INT64;
    return fields != nullptr && is_integer && fields->mode != PointwiseMode_t::GEN_INDEX;
}

nodes::TensorSpec const* first_float(GraphSpec const& graph, Node const& node) {
    for (int const port : {Pointwise::In0, Pointwise::In1}) {
        nodes::TensorSpec const* const operand = graph.tensor(node, port);
        if (operand != nullptr && core::is_floating_point(operand->data_type)) return operand;
    }
    return nullptr;
}

Found integers_of_floats(Facts const& facts) {
    if (!facts.has(Port::Score)) return {};
    for (Node const& node : every_node(facts.graph)) {
        nodes::TensorSpec const* const operand = computes_in_integers(node) ? first_float(facts.graph, node) : nullptr;
        if (operand == nullptr) continue;
        return Violation{Port::ScoreMod, "'" + operand->name + "' of " + core::name_of(operand->data_type) +
                                             " in an operation that computes in " +
                                             core::name_of(node.compute_data_type)};
    }
    return {};
}

Found several_left_edges(Facts const& facts) {
    if (!facts.has(Port::Score)) return {};
    auto const in_modifier = std::ranges::count_if(every_node(facts.graph),
                                                   [&](Node const& node) { return is_left_edge(facts.graph, node); });
    bool const has_bound = facts.fields.left_bound.has_value();
    if (in_modifier + (has_bound ? 1 : 0) < 2) return {};
    return Violation{Port::ScoreMod, number(in_modifier) + " mask(s) of the left edge in the modifier, and " +
                                         (has_bound ? "a left bound" : "no left bound")};
}

Found activation_gradient(Facts const& facts) {
    if (!facts.has(Port::DScoreMod) || !has_backward_activation(facts)) return {};
    return Violation{Port::DScoreMod, "TANH_BWD or another backward activation in a modifier's gradient"};
}

Found activation_gradient_of_product(Facts const& facts) {
    Found found = needs_product_of_dq(facts) ? activation_gradient(facts) : std::nullopt;
    if (found) found->found += is_deterministic(facts) ? ", with the deterministic algorithm," : ", with dBias,";
    return found;
}

Found bias_gradient_of_modified(Facts const& facts) {
    if (!facts.has(Port::DBias) || !facts.has(Port::DScoreMod)) return {};
    return Violation{Port::DBias, "a dBias with the gradient of a modifier"};
}

Found truth_in_memory(Facts const& facts) {
    return wrong_in_modifier(facts, [](nodes::TensorSpec const& tensor) {
        return tensor.data_type == DataType_t::BOOLEAN ? "the data type BOOLEAN of" : "";
    });
}

constexpr Quirk kRows[] = {
    {.id = "cudnn.s32",
     .on = kOlder | kAmpere | kConsumerBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "neither TANH_BWD nor another backward activation in a modifier's gradient",
     .fix = "use Target::cpu(), or write the derivative with other operations",
     .check = activation_gradient},
    {.id = "cudnn.s32",
     .on = kDatacenterBlackwell,
     .evidence = Evidence::NoEngine,
     .verified = {92801, kOffline},
     .summary = "neither dBias nor the deterministic algorithm with TANH_BWD or another backward activation in a "
                "modifier's gradient",
     .fix = "leave these out, use Target::cpu(), or write the derivative with other operations",
     .check = activation_gradient_of_product},
    {.id = "cudnn.s34",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "no dBias with the gradient of a modifier: cuDNN computes it wrong",
     .fix = "add the bias in the modifier, or use Target::cpu()",
     .seen = "11 of 11 runs wrong",
     .check = bias_gradient_of_modified},
    {.id = "cudnn.s68",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "one mask of the left edge, by a left bound or by column > row in a modifier: of two cuDNN applies "
                "one",
     .fix = "leave the wider of the two out",
     .seen = "16 of 24 runs wrong, of 12 graphs with two such masks; right where the last mask is the narrower. No "
             "other form is accepted: with the branches of the selection exchanged there is no engine",
     .check = several_left_edges},
    {.id = "cudnn.s91",
     .evidence = Evidence::WrongNumbers,
     .verified = {91900, kH200},
     .summary = "operands of integers for a modifier's operations that compute in integers: cuDNN reads "
                "floating-point ones in another way",
     .fix = "set_compute_data_type(DataType_t::FLOAT) for the operation",
     .seen = "109 of 122 runs wrong; right where fractions or INT32's rounding made no difference. 9.14.0 the same",
     .check = integers_of_floats},
    {.id = "cudnn.s97",
     .evidence = Evidence::Crash,
     .verified = {91900, kOffline},
     .summary = "no tensor of BOOLEAN that a modifier reads from memory: cuDNN divides by 0 while it plans, which ends "
                "the process",
     .fix = "give INT32, in which 0 is false, or a bias of 0 and minus infinity",
     .check = truth_in_memory},
};

}  // namespace

std::span<Quirk const> modifier_limits() { return kRows; }

}  // namespace cudnn_frontend::quirks
