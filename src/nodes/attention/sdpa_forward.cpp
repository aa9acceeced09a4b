// The forward attention node: its ports and fields, and the inference of its outputs.
#include "nodes/attention/attention_rules.h"
#include "nodes/attention/attention_schema.h"

namespace cudnn_frontend::nodes {
namespace {

using F = SdpaForwardFields;

constexpr auto kPortRows = attention_ports<&attention::Operand::forward>();

constexpr auto kFieldRows =
    join(kAttentionFieldRows<F>,
         std::array{
             field<F, &F::generate_stats>("generate_stats", "make the Stats output"),
             field<F, &F::implementation>("implementation", "as primitive operations or as one fused operation"),
             field<F, &F::max_seq_len_kv>("max_seq_len_kv", "the most keys of a batch entry, of paged K and V"),
             field<F, &F::unfuse_fma>("unfuse_fma", "round products before they are added to"),
         });

}  // namespace

constinit NodeSchema const SdpaForwardFields::schema = {
    NodeKind::SdpaForward, "SDPA_FORWARD",     attention::kPorts, kPortRows, kFieldRows,
    infer_results,         sdpa_forward_rules, Computes::InFloat};

}  // namespace cudnn_frontend::nodes
