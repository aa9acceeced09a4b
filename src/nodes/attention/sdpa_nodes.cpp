// The nodes of attention, forward and backward: their ports and fields, and the inference of their outputs.
#include "nodes/attention/attention_schema.h"

namespace cudnn_frontend::nodes {
namespace {

using Forward = SdpaForwardFields;

constexpr auto kForwardPortRows = attention_ports<&attention::Operand::forward>();

constexpr auto kForwardFieldRows = join(
    kAttentionFieldRows<Forward>,
    std::array{
        field<Forward, &Forward::generate_stats>("generate_stats", "make the Stats output"),
        field<Forward, &Forward::implementation>("implementation", "as primitive operations or as one fused operation"),
        field<Forward, &Forward::max_seq_len_kv>("max_seq_len_kv", "the most keys of a batch entry, of paged K and V"),
        field<Forward, &Forward::unfuse_fma>("unfuse_fma", "round products before they are added to"),
    });

using Backward = SdpaBackwardFields;

constexpr auto kBackwardPortRows = attention_ports<&attention::Operand::backward>();

constexpr auto kBackwardFieldRows =
    join(kAttentionFieldRows<Backward>,
         std::array{field<Backward, &Backward::deterministic>("deterministic", "the same bits in every run")});

// Forward's Stats are FLOAT, whatever the default.
void infer_backward(GraphSpec& graph, Node const& node) {
    infer_results(graph, node);
    TensorSpec* const stats = graph.tensor(node, attention::Stats);
    if (stats != nullptr && stats->data_type == DataType_t::NOT_SET) stats->data_type = DataType_t::FLOAT;
}

}  // namespace

constinit NodeSchema const SdpaForwardFields::schema = {NodeKind::SdpaForward, "SDPA_FORWARD",    attention::PortCount,
                                                        kForwardPortRows,      kForwardFieldRows, infer_results,
                                                        sdpa_forward_rules,    Computes::InFloat};

constinit NodeSchema const SdpaBackwardFields::schema = {
    NodeKind::SdpaBackward, "SDPA_BACKWARD", attention::PortCount, kBackwardPortRows,
    kBackwardFieldRows,     infer_backward,  sdpa_backward_rules,  Computes::InFloat};

}  // namespace cudnn_frontend::nodes
