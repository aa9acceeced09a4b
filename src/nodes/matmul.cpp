// The matrix product node, over the last two dims.
#include "nodes/attention_schema.h"
#include "nodes/primitive_rules.h"
#include "nodes/schemas.h"

#include <algorithm>

namespace cudnn_frontend::inline v1::nodes {
namespace {

using F = MatmulFields;

constexpr std::array kPorts = {
    PortRow{matmul::A, "A", Direction::Input, Presence::Required, "left factor {..., M, K}"},
    PortRow{matmul::B, "B", Direction::Input, Presence::Required, "right factor {..., K, N}"},
    PortRow{matmul::M_override, "M_override", Direction::Input, Presence::Optional, "rows of each batch entry"},
    PortRow{matmul::N_override, "N_override", Direction::Input, Presence::Optional, "columns of each batch entry"},
    PortRow{matmul::K_override, "K_override", Direction::Input, Presence::Optional, "terms of each batch entry"},
    PortRow{matmul::C, "C", Direction::Output, Presence::Required, "product {..., M, N}"},
};

constexpr std::array kFields = {
    field<F, &F::padding_value>("padding_value", "what C holds beyond the overrides"),
};

void infer(GraphSpec& graph, Node const& node) {
    TensorSpec const* const a = graph.tensor(node, matmul::A);
    TensorSpec const* const b = graph.tensor(node, matmul::B);
    if (a == nullptr || b == nullptr || a->dim.size() < 2 || a->dim.size() != b->dim.size()) return;
    core::Dims dim = a->dim;
    for (std::size_t i = 0; i + 2 < dim.size(); ++i) dim[i] = std::max(a->dim[i], b->dim[i]);
    dim.back() = b->dim.back();
    infer_output(graph.tensor(node, matmul::C), dim);
}

}  // namespace

constinit NodeSchema const kMatmulSchema = {
    NodeKind::Matmul, "MATMUL", matmul::kPorts, kPorts, kFields, infer, matmul_rules};

}  // namespace cudnn_frontend::inline v1::nodes
