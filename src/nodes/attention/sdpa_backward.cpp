// The backward attention node: its ports and fields, and what follows for its outputs.
#include "nodes/attention/attention_rules.h"
#include "nodes/attention/attention_schema.h"
#include "nodes/attention/paging.h"

namespace cudnn_frontend::nodes {
namespace {

using F = SdpaBackwardFields;

constexpr std::array kFp8PortRows = {
    fp8_input(attention::Descale_q, "descale_q", "factor of Q after reading"),
    fp8_input(attention::Descale_k, "descale_k", "factor of K after reading"),
    fp8_input(attention::Descale_v, "descale_v", "factor of V after reading"),
    fp8_input(attention::Descale_o, "descale_o", "factor of O after reading"),
    fp8_input(attention::Descale_dO, "descale_dO", "factor of dO after reading"),
    fp8_input(attention::Descale_s, "descale_s", "factor of the probabilities after their product with dO"),
    fp8_input(attention::Descale_dP, "descale_dP", "factor of the scores' gradients after their products"),
    fp8_input(attention::Scale_s, "scale_s", "factor of the probabilities before they become 8-bit numbers"),
    fp8_input(attention::Scale_dQ, "scale_dQ", "factor of dQ before writing"),
    fp8_input(attention::Scale_dK, "scale_dK", "factor of dK before writing"),
    fp8_input(attention::Scale_dV, "scale_dV", "factor of dV before writing"),
    fp8_input(attention::Scale_dP, "scale_dP", "factor of the scores' gradients before they become 8-bit numbers"),
    fp8_output(attention::Amax_dQ, "amax_dQ", "greatest magnitude of dQ before scale_dQ"),
    fp8_output(attention::Amax_dK, "amax_dK", "greatest magnitude of dK before scale_dK"),
    fp8_output(attention::Amax_dV, "amax_dV", "greatest magnitude of dV before scale_dV"),
    fp8_output(attention::Amax_dP, "amax_dP", "greatest magnitude of the scores' gradients"),
    fp8_input(attention::Q_T, "Q_T", "Q in blocks along the sequence"),
    fp8_input(attention::K_T, "K_T", "K in blocks along the sequence"),
    fp8_input(attention::dO_T, "dO_T", "dO in blocks along the sequence"),
    fp8_input(attention::dO_f16, "dO_f16", "dO in 16 bits"),
    fp8_input(attention::Descale_q_T, "descale_q_T", "factors of Q_T after reading"),
    fp8_input(attention::Descale_k_T, "descale_k_T", "factors of K_T after reading"),
    fp8_input(attention::Descale_dO_T, "descale_dO_T", "factors of dO_T after reading"),
};

constexpr auto kPortRows = join(
    std::array{
        PortRow{attention::Q, "Q", Direction::Input, Presence::Required, "queries {B, Hq, Sq, Dqk}"},
        PortRow{attention::K, "K", Direction::Input, Presence::Required, "keys {B, Hk, Skv, Dqk}"},
        PortRow{attention::V, "V", Direction::Input, Presence::Required, "values {B, Hv, Skv, Dv}"},
        PortRow{attention::O, "O", Direction::Input, Presence::Required, "the forward result {B, Hq, Sq, Dv}"},
        PortRow{attention::dO, "dO", Direction::Input, Presence::Required, "gradient of O"},
        PortRow{attention::Stats, "Stats", Direction::Input, Presence::Required, "the forward log-sum-exp"},
        PortRow{attention::Dropout_scale_inv, "dropout_scale_inv", Direction::Input, Presence::Optional,
                "the inverse of dropout_scale"},
        PortRow{attention::dQ, "dQ", Direction::Output, Presence::Required, "gradient of Q"},
        PortRow{attention::dK, "dK", Direction::Output, Presence::Required, "gradient of K"},
        PortRow{attention::dV, "dV", Direction::Output, Presence::Required, "gradient of V"},
        PortRow{attention::dBias, "dBias", Direction::Output, Presence::Optional, "gradient of the bias"},
        PortRow{attention::dScore, "dScore", Direction::Output, Presence::Optional,
                "gradient of what the modifier made", 1},
        PortRow{attention::dScore_mod, "dScore_mod", Direction::Input, Presence::Optional, "gradient of the scores", 2},
        PortRow{attention::dSink_token, "dSink_token", Direction::Output, Presence::Optional,
                "gradient of the sink token"},
    },
    join(kAttentionOptionPorts, kFp8PortRows));

constexpr auto kFieldRows = join(
    kAttentionFieldRows<F>, std::array{field<F, &F::deterministic>("deterministic", "the same bits in every run")});

// A gradient has the dims of what it is the gradient of.
void infer_gradient(GraphSpec& graph, Node const& node, int gradient, int of) {
    TensorSpec const* const source = graph.tensor(node, of);
    if (source != nullptr && !source->dim.empty()) infer_output(graph.tensor(node, gradient), source->dim);
}

void infer(GraphSpec& graph, Node const& node) {
    infer_gradient(graph, node, attention::dQ, attention::Q);
    infer_gradient(graph, node, attention::dK, attention::K);
    infer_gradient(graph, node, attention::dV, attention::V);
    infer_gradient(graph, node, attention::dBias, attention::Bias);
    infer_amaxes(graph, node);
    TensorSpec const* const sink = graph.tensor(node, attention::Sink_token);
    if (sink != nullptr && !sink->dim.empty()) {
        infer_output(graph.tensor(node, attention::dSink_token), sink->dim, DataType_t::FLOAT);
    }
    TensorSpec* const stats = graph.tensor(node, attention::Stats);
    if (stats != nullptr && stats->data_type == DataType_t::NOT_SET) stats->data_type = DataType_t::FLOAT;
    core::Dims const scores = score_dims(graph, node);
    if (scores.empty()) return;
    for (int const port : {attention::Rng_dump, attention::Score, attention::dScore}) {
        infer_output(graph.tensor(node, port), scores, DataType_t::FLOAT);
    }
}

}  // namespace

constinit NodeSchema const SdpaBackwardFields::schema = {
    NodeKind::SdpaBackward, "SDPA_BACKWARD", attention::kPorts, kPortRows, kFieldRows, infer, sdpa_backward_rules};

}  // namespace cudnn_frontend::nodes
