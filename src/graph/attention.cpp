// Attention, forward and backward: what its nodes are told.
#include "graph/attributes_access.h"

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

template <class Derived>
Derived& Attention_backward_attributes<Derived>::set_dsink_token(Tensor_ptr const& dsink) {
    connect(*this->draft_, port::dSink_token, dsink);
    return static_cast<Derived&>(*this);
}
template <class Derived>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from, which the check does not see in a template
Derived& Attention_backward_attributes<Derived>::set_score_mod_bprop(Score_modifier modifier) {
    this->draft_->score_mod_bprop = std::move(modifier);
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_backward_attributes<Derived>::set_deterministic_algorithm(bool const enabled) {
    fields_of<SdpaBackwardFields>(*this->draft_).deterministic = enabled;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_backward_attributes<Derived>::set_dropout(Tensor_ptr const& mask, Tensor_ptr const& scale,
                                                             Tensor_ptr const& scale_inverse) {
    connect(*this->draft_, port::Dropout_mask, mask);
    connect(*this->draft_, port::Dropout_scale, scale);
    connect(*this->draft_, port::Dropout_scale_inv, scale_inverse);
    return static_cast<Derived&>(*this);
}

}  // namespace detail

template class detail::Node_attributes<graph::SDPA_attributes>;
template class detail::Node_attributes<graph::SDPA_backward_attributes>;
template class detail::Node_attributes<graph::SDPA_fp8_backward_attributes>;
template class detail::Attention_attributes<graph::SDPA_attributes>;
template class detail::Attention_attributes<graph::SDPA_backward_attributes>;
template class detail::Attention_attributes<graph::SDPA_fp8_backward_attributes>;
template class detail::Attention_backward_attributes<graph::SDPA_backward_attributes>;
template class detail::Attention_backward_attributes<graph::SDPA_fp8_backward_attributes>;

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
    : Attention_backward_attributes(detail::make_draft<SdpaBackwardFields>(port::kPorts)) {}

SDPA_backward_attributes& SDPA_backward_attributes::set_dbias(detail::Tensor_ptr const& dbias) {
    connect(*draft_, port::dBias, dbias);
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

SDPA_fp8_backward_attributes::SDPA_fp8_backward_attributes()
    : Attention_backward_attributes(detail::make_draft<SdpaBackwardFields>(port::kPorts)) {}

bool SDPA_fp8_backward_attributes::has_causal_like_masking() const {
    return fields_of<SdpaBackwardFields>(*draft_).right_bound == 0;
}
bool SDPA_fp8_backward_attributes::has_causal_mask_bottom_right() const {
    bool const is_bottom_right =
        fields_of<SdpaBackwardFields>(*draft_).diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    return is_bottom_right && has_causal_like_masking();
}
bool SDPA_fp8_backward_attributes::has_sliding_window() const {
    return fields_of<SdpaBackwardFields>(*draft_).left_bound.has_value();
}
bool SDPA_fp8_backward_attributes::has_sink_token() const { return draft_->ports[port::Sink_token] != nullptr; }

}  // namespace graph
}  // namespace cudnn_frontend::inline v1
