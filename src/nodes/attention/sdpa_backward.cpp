// The backward attention node: its ports and fields, and the inference of its outputs.
#include "nodes/attention/attention_rules.h"
#include "nodes/attention/attention_schema.h"

namespace cudnn_frontend::nodes {
namespace {

using F = SdpaBackwardFields;

constexpr auto kPortRows = attention_ports<&attention::Operand::backward>();

constexpr auto kFieldRows = join(
    kAttentionFieldRows<F>, std::array{field<F, &F::deterministic>("deterministic", "the same bits in every run")});

// Forward's Stats are FLOAT, whatever the default.
void infer(GraphSpec& graph, Node const& node) {
    infer_results(graph, node);
    TensorSpec* const stats = graph.tensor(node, attention::Stats);
    if (stats != nullptr && stats->data_type == DataType_t::NOT_SET) stats->data_type = DataType_t::FLOAT;
}

}  // namespace

constinit NodeSchema const SdpaBackwardFields::schema = {
    NodeKind::SdpaBackward, "SDPA_BACKWARD",  attention::kPorts, kPortRows, kFieldRows, infer,
    sdpa_backward_rules,    Computes::InFloat};

}  // namespace cudnn_frontend::nodes
