// The pointwise node: one arithmetic operation on up to three tensors, element by element.
#include "nodes/attention_schema.h"
#include "nodes/primitive_rules.h"
#include "nodes/schemas.h"

#include <algorithm>

namespace cudnn_frontend::inline v1::nodes {
namespace {

using F = PointwiseFields;

constexpr std::array kPorts = {
    PortRow{pointwise::In_0, "IN_0", Direction::Input, Presence::Required, "first operand"},
    PortRow{pointwise::In_1, "IN_1", Direction::Input, Presence::Optional, "second operand"},
    PortRow{pointwise::In_2, "IN_2", Direction::Input, Presence::Optional, "predicate of BINARY_SELECT"},
    PortRow{pointwise::Out_0, "OUT_0", Direction::Output, Presence::Required, "result"},
};

constexpr std::array kFields = {
    field<F, &F::mode>("mode", "the operation"),
    field<F, &F::axis>("axis", "the dim whose index GEN_INDEX gives"),
    field<F, &F::relu_lower_clip>("relu_lower_clip", "smallest result of RELU"),
    field<F, &F::relu_upper_clip>("relu_upper_clip", "largest result of RELU"),
    field<F, &F::relu_lower_clip_slope>("relu_lower_clip_slope", "slope of RELU below the lower clip"),
    field<F, &F::swish_beta>("swish_beta", "beta of SWISH"),
    field<F, &F::elu_alpha>("elu_alpha", "alpha of ELU"),
    field<F, &F::softplus_beta>("softplus_beta", "beta of SOFTPLUS"),
};

// Dims aligned at the last one, each the largest of the operands'.
core::Dims broadcast(core::Dims a, core::Dims b) {
    if (a.size() < b.size()) a.swap(b);
    for (std::size_t i = 1; i <= b.size(); ++i) {
        a[a.size() - i] = std::max(a[a.size() - i], b[b.size() - i]);
    }
    return a;
}

// Comparisons give predicates and GEN_INDEX gives integers, whatever the graph's default is.
DataType_t result_type(PointwiseMode_t mode) {
    switch (mode) {
        case PointwiseMode_t::CMP_EQ:
        case PointwiseMode_t::CMP_NEQ:
        case PointwiseMode_t::CMP_GT:
        case PointwiseMode_t::CMP_GE:
        case PointwiseMode_t::CMP_LT:
        case PointwiseMode_t::CMP_LE:
        case PointwiseMode_t::LOGICAL_AND:
        case PointwiseMode_t::LOGICAL_OR:
        case PointwiseMode_t::LOGICAL_NOT: return DataType_t::BOOLEAN;
        case PointwiseMode_t::GEN_INDEX: return DataType_t::INT32;
        default: return DataType_t::NOT_SET;
    }
}

void infer(GraphSpec& graph, Node const& node) {
    core::Dims dim;
    for (int const port : {pointwise::In_0, pointwise::In_1, pointwise::In_2}) {
        if (TensorSpec const* const operand = graph.tensor(node, port)) dim = broadcast(dim, operand->dim);
    }
    PointwiseMode_t const mode = std::get<PointwiseFields>(node.fields).mode;
    if (!dim.empty()) infer_output(graph.tensor(node, pointwise::Out_0), dim, result_type(mode));
}

}  // namespace

constinit NodeSchema const kPointwiseSchema = {
    NodeKind::Pointwise, "POINTWISE", pointwise::kPorts, kPorts, kFields, infer, pointwise_rules};

}  // namespace cudnn_frontend::inline v1::nodes
