// The reduction node: folds each dim in which its result is smaller than its operand.
#include "nodes/attention_schema.h"
#include "nodes/primitive_rules.h"
#include "nodes/schemas.h"

namespace cudnn_frontend::inline v1::nodes {
namespace {

using F = ReductionFields;

constexpr std::array kPorts = {
    PortRow{reduction::X, "X", Direction::Input, Presence::Required, "operand"},
    PortRow{reduction::Y, "Y", Direction::Output, Presence::Required, "result; its dims say what is reduced"},
};

constexpr std::array kFields = {
    field<F, &F::mode>("mode", "the operation"),
    field<F, &F::is_deterministic>("is_deterministic", "the same bits in every run"),
};

// Only strides follow: the dims are the user's choice.
void infer(GraphSpec& graph, Node const& node) {
    TensorSpec* const y = graph.tensor(node, reduction::Y);
    if (y != nullptr && !y->dim.empty()) infer_output(y, y->dim);
}

}  // namespace

constinit NodeSchema const kReductionSchema = {
    NodeKind::Reduction, "REDUCTION", reduction::kPorts, kPorts, kFields, infer, reduction_rules};

}  // namespace cudnn_frontend::inline v1::nodes
