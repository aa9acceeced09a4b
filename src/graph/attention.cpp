// Attention, forward and backward: what its nodes are told, and how a graph makes them.
#include "graph/attributes_access.h"
#include "graph/graph_impl.h"

#include <cudnn_frontend/graph.h>

namespace cudnn_frontend::inline v1 {

using detail::connect;
using detail::fields_of;
using nodes::SdpaBackwardFields;
using nodes::SdpaForwardFields;
namespace port = nodes::attention;

namespace detail {

// The part of either kind's fields that both share.
static nodes::AttentionFields& shared_fields(nodes::Draft& draft) {
    if (auto* const forward = std::get_if<SdpaForwardFields>(&draft.fields)) return *forward;
    return std::get<SdpaBackwardFields>(draft.fields);
}

static void set_band(nodes::Draft& draft, DiagonalAlignment_t alignment, std::int64_t right_bound) {
    shared_fields(draft).diagonal_alignment = alignment;
    shared_fields(draft).right_bound = right_bound;
}

template <class Derived>
Derived& Attention_attributes<Derived>::set_attn_scale(Tensor_ptr const& scale) {
    connect(*this->draft_, port::Attn_scale, scale);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_attn_scale(float const scale) {
    shared_fields(*this->draft_).attn_scale = scale;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_bias(Tensor_ptr const& bias) {
    connect(*this->draft_, port::Bias, bias);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_alibi_mask(bool const enabled) {
    shared_fields(*this->draft_).alibi_mask = enabled;
    return static_cast<Derived&>(*this);
}
template <class Derived>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from, which the check does not see in a template
Derived& Attention_attributes<Derived>::set_score_mod(Score_modifier modifier) {
    this->draft_->score_mod = std::move(modifier);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_sink_token(Tensor_ptr const& sink) {
    connect(*this->draft_, port::Sink_token, sink);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_padding_mask(bool const enabled) {
    shared_fields(*this->draft_).padding_mask = enabled;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_seq_len_q(Tensor_ptr const& lengths) {
    connect(*this->draft_, port::Seq_len_q, lengths);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_seq_len_kv(Tensor_ptr const& lengths) {
    connect(*this->draft_, port::Seq_len_kv, lengths);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_diagonal_alignment(DiagonalAlignment_t const alignment) {
    shared_fields(*this->draft_).diagonal_alignment = alignment;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_diagonal_band_left_bound(int const bound) {
    shared_fields(*this->draft_).left_bound = bound;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_diagonal_band_right_bound(int const bound) {
    shared_fields(*this->draft_).right_bound = bound;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_causal_mask(bool const enabled) {
    if (enabled) set_band(*this->draft_, DiagonalAlignment_t::TOP_LEFT, 0);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_causal_mask_bottom_right(bool const enabled) {
    if (enabled) set_band(*this->draft_, DiagonalAlignment_t::BOTTOM_RIGHT, 0);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_sliding_window_length(int const length) {
    return set_diagonal_band_left_bound(length);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_dropout(float const probability, Tensor_ptr const& seed,
                                                    Tensor_ptr const& offset) {
    shared_fields(*this->draft_).dropout_probability = probability;
    connect(*this->draft_, port::Seed, seed);
    connect(*this->draft_, port::Offset, offset);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_rng_dump(Tensor_ptr const& dump) {
    connect(*this->draft_, port::Rng_dump, dump);
    return static_cast<Derived&>(*this);
}

}  // namespace detail

template class detail::Node_attributes<graph::SDPA_attributes>;
template class detail::Node_attributes<graph::SDPA_backward_attributes>;
template class detail::Attention_attributes<graph::SDPA_attributes>;
template class detail::Attention_attributes<graph::SDPA_backward_attributes>;

namespace graph {

SDPA_attributes::SDPA_attributes() : Attention_attributes(detail::make_draft<SdpaForwardFields>(port::kPorts)) {}

SDPA_attributes& SDPA_attributes::set_generate_stats(bool const enabled) {
    fields_of<SdpaForwardFields>(*draft_).generate_stats = enabled;
    return *this;
}
SDPA_attributes& SDPA_attributes::set_is_inference(bool const enabled) { return set_generate_stats(!enabled); }
SDPA_attributes& SDPA_attributes::set_implementation(AttentionImplementation_t implementation) {
    fields_of<SdpaForwardFields>(*draft_).implementation = implementation;
    return *this;
}
SDPA_attributes& SDPA_attributes::set_logit_max(detail::Tensor_ptr const& max) {
    connect(*draft_, port::Max, max);
    return *this;
}
SDPA_attributes& SDPA_attributes::set_score_sum_exp(detail::Tensor_ptr const& sum_exp) {
    connect(*draft_, port::Sum_exp, sum_exp);
    return *this;
}
SDPA_attributes& SDPA_attributes::set_dropout(detail::Tensor_ptr const& mask, detail::Tensor_ptr const& scale) {
    connect(*draft_, port::Dropout_mask, mask);
    connect(*draft_, port::Dropout_scale, scale);
    return *this;
}

SDPA_attributes& SDPA_attributes::set_paged_attention_k_table(detail::Tensor_ptr const& table) {
    connect(*draft_, port::Page_table_k, table);
    return *this;
}
SDPA_attributes& SDPA_attributes::set_paged_attention_v_table(detail::Tensor_ptr const& table) {
    connect(*draft_, port::Page_table_v, table);
    return *this;
}
SDPA_attributes& SDPA_attributes::set_paged_attention_max_seq_len_kv(int const length) {
    fields_of<SdpaForwardFields>(*draft_).max_seq_len_kv = length;
    return *this;
}
SDPA_attributes& SDPA_attributes::set_block_mask(detail::Tensor_ptr const& mask) {
    connect(*draft_, port::Block_mask, mask);
    return *this;
}

SDPA_backward_attributes::SDPA_backward_attributes()
    : Attention_attributes(detail::make_draft<SdpaBackwardFields>(port::kPorts)) {}

SDPA_backward_attributes& SDPA_backward_attributes::set_dbias(detail::Tensor_ptr const& dbias) {
    connect(*draft_, port::dBias, dbias);
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_score_mod_bprop(detail::Score_modifier modifier) {
    draft_->score_mod_bprop = std::move(modifier);
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_dsink_token(detail::Tensor_ptr const& dsink) {
    connect(*draft_, port::dSink_token, dsink);
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_deterministic_algorithm(bool const enabled) {
    fields_of<SdpaBackwardFields>(*draft_).deterministic = enabled;
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_max_total_seq_len_q(std::int64_t const tokens) {
    fields_of<SdpaBackwardFields>(*draft_).max_total_seq_len_q = tokens;
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_max_total_seq_len_kv(std::int64_t const tokens) {
    fields_of<SdpaBackwardFields>(*draft_).max_total_seq_len_kv = tokens;
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_dropout(detail::Tensor_ptr const& mask,
                                                                detail::Tensor_ptr const& scale,
                                                                detail::Tensor_ptr const& scale_inverse) {
    connect(*draft_, port::Dropout_mask, mask);
    connect(*draft_, port::Dropout_scale, scale);
    connect(*draft_, port::Dropout_scale_inv, scale_inverse);
    return *this;
}

// Lets the modifier add its nodes; it gets the tensor at the one port and what it returns goes to the other.
static void apply_modifier(Graph& graph, Graph::Impl& impl, nodes::Draft& node, detail::Score_modifier const& modifier,
                           int given, int returned) {
    if (!modifier) return;
    Tensor_ptr const scores = make_output(node, given, given == port::Score ? "Score" : "dScore", impl);
    std::shared_ptr<Graph> const borrowed(std::shared_ptr<Graph>(), &graph);
    detail::connect(node, returned, modifier(borrowed, scores));
}

std::array<Tensor_ptr, 2> Graph::sdpa(Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v,
                                      SDPA_attributes const& attributes) {
    nodes::Draft node = detail::Attributes_access::take(attributes);
    detail::connect(node, port::Q, q);
    detail::connect(node, port::K, k);
    detail::connect(node, port::V, v);
    Tensor_ptr const o = make_output(node, port::O, "O", impl());
    Tensor_ptr stats;
    if (std::get<nodes::SdpaForwardFields>(node.fields).generate_stats) {
        stats = make_output(node, port::Stats, "Stats", impl());
    }
    apply_modifier(*this, impl(), node, std::exchange(node.score_mod, {}), port::Score, port::Score_mod);
    impl().nodes.push_back(std::move(node));
    return {o, stats};
}

std::array<Tensor_ptr, 3> Graph::sdpa_backward(Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v,
                                               Tensor_ptr const& o, Tensor_ptr const& dO, Tensor_ptr const& stats,
                                               SDPA_backward_attributes const& attributes) {
    nodes::Draft node = detail::Attributes_access::take(attributes);
    detail::connect(node, port::Q, q);
    detail::connect(node, port::K, k);
    detail::connect(node, port::V, v);
    detail::connect(node, port::O, o);
    detail::connect(node, port::dO, dO);
    detail::connect(node, port::Stats, stats);
    std::array<Tensor_ptr, 3> gradients{make_output(node, port::dQ, "dQ", impl()),
                                        make_output(node, port::dK, "dK", impl()),
                                        make_output(node, port::dV, "dV", impl())};
    apply_modifier(*this, impl(), node, std::exchange(node.score_mod, {}), port::Score, port::Score_mod);
    apply_modifier(*this, impl(), node, std::exchange(node.score_mod_bprop, {}), port::dScore, port::dScore_mod);
    impl().nodes.push_back(std::move(node));
    return gradients;
}

std::array<Tensor_ptr, 2> Graph::scaled_dot_product_flash_attention(Tensor_ptr const& q, Tensor_ptr const& k,
                                                                    Tensor_ptr const& v,
                                                                    SDPA_attributes const& attributes) {
    return sdpa(q, k, v, attributes);
}

std::array<Tensor_ptr, 3> Graph::scaled_dot_product_flash_attention_backward(
    Tensor_ptr const& q, Tensor_ptr const& k, Tensor_ptr const& v, Tensor_ptr const& o, Tensor_ptr const& dO,
    Tensor_ptr const& stats, SDPA_backward_attributes const& attributes) {
    return sdpa_backward(q, k, v, o, dO, stats, attributes);
}

}  // namespace graph
}  // namespace cudnn_frontend::inline v1
