// The forward attention node: its ports and fields, and what follows for its outputs.
#include "nodes/attention/attention_rules.h"
#include "nodes/attention/attention_schema.h"
#include "nodes/attention/paging.h"

namespace cudnn_frontend::nodes {
namespace {

using F = SdpaForwardFields;

constexpr std::array kFp8PortRows = {
    fp8_input(attention::Descale_q, "descale_q", "factor of Q after reading"),
    fp8_input(attention::Descale_k, "descale_k", "factor of K after reading"),
    fp8_input(attention::Descale_v, "descale_v", "factor of V after reading"),
    fp8_input(attention::Descale_s, "descale_s", "factor of the probabilities after their product with V"),
    fp8_input(attention::Scale_s, "scale_s", "factor of the probabilities before they become 8-bit numbers"),
    fp8_input(attention::Scale_o, "scale_o", "factor of O before writing"),
    fp8_output(attention::Amax_s, "amax_s", "greatest magnitude of the probabilities"),
    fp8_output(attention::Amax_o, "amax_o", "greatest magnitude of O before scale_o"),
};

constexpr auto kPortRows = join(
    std::array{
        PortRow{attention::Q, "Q", Direction::Input, Presence::Required, "queries {B, Hq, Sq, Dqk}"},
        PortRow{attention::K, "K", Direction::Input, Presence::Required, "keys {B, Hk, Skv, Dqk}"},
        PortRow{attention::V, "V", Direction::Input, Presence::Required, "values {B, Hv, Skv, Dv}"},
        PortRow{attention::O, "O", Direction::Output, Presence::Required, "result {B, Hq, Sq, Dv}"},
        PortRow{attention::Stats, "Stats", Direction::Output, Presence::Optional, "log-sum-exp of the scores of a row"},
        PortRow{attention::Max, "Max", Direction::Output, Presence::Optional, "the greatest score of a row"},
        PortRow{attention::Sum_exp, "Sum_exp", Direction::Output, Presence::Optional,
                "sum of exp(score - Max) of a row"},
    },
    join(join(kAttentionOptionPorts,
              std::array{
                  PortRow{attention::Page_table_k, "page_table_k", Direction::Input, Presence::Optional,
                          "which pages of K each batch entry has"},
                  PortRow{attention::Page_table_v, "page_table_v", Direction::Input, Presence::Optional,
                          "which pages of V each batch entry has"},
                  PortRow{attention::Block_mask, "block_mask", Direction::Input, Presence::Optional,
                          "a bit for each tile of scores, 1 keeps it"},
              }),
         kFp8PortRows));

constexpr auto kFieldRows =
    join(kAttentionFieldRows<F>,
         std::array{
             field<F, &F::generate_stats>("generate_stats", "make the Stats output"),
             field<F, &F::implementation>("implementation", "as primitive operations or as one fused operation"),
             field<F, &F::max_seq_len_kv>("max_seq_len_kv", "the most keys of a batch entry, of paged K and V"),
             field<F, &F::unfuse_fma>("unfuse_fma", "round products before they are added to"),
         });

void infer(GraphSpec& graph, Node const& node) {
    TensorSpec const* const v = graph.tensor(node, attention::V);
    core::Dims const scores = score_dims(graph, node);
    if (scores.empty()) return;
    if (v != nullptr && v->dim.size() == 4) {
        infer_output(graph.tensor(node, attention::O), {scores[0], scores[1], scores[2], v->dim[3]});
    }
    for (int const port : {attention::Stats, attention::Max, attention::Sum_exp}) {
        infer_output(graph.tensor(node, port), {scores[0], scores[1], scores[2], 1}, DataType_t::FLOAT);
    }
    infer_amaxes(graph, node);
    infer_output(graph.tensor(node, attention::Rng_dump), scores, DataType_t::FLOAT);
    infer_output(graph.tensor(node, attention::Score), scores, DataType_t::FLOAT);
}

}  // namespace

constinit NodeSchema const SdpaForwardFields::schema = {
    NodeKind::SdpaForward, "SDPA_FORWARD", attention::kPorts, kPortRows, kFieldRows, infer, sdpa_forward_rules};

}  // namespace cudnn_frontend::nodes
