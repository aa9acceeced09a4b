#include "graph/attributes_access.h"

#include <cudnn_frontend/attributes.h>

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
Derived& Attention_attributes<Derived>::set_attn_scale(Tensor_ptr scale) {
    connect(*this->draft_, port::Attn_scale, std::move(scale));
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_attn_scale(float const scale) {
    shared_fields(*this->draft_).attn_scale = scale;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_bias(Tensor_ptr bias) {
    connect(*this->draft_, port::Bias, std::move(bias));
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_alibi_mask(bool const enabled) {
    shared_fields(*this->draft_).alibi_mask = enabled;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_padding_mask(bool const enabled) {
    shared_fields(*this->draft_).padding_mask = enabled;
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_seq_len_q(Tensor_ptr lengths) {
    connect(*this->draft_, port::Seq_len_q, std::move(lengths));
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_seq_len_kv(Tensor_ptr lengths) {
    connect(*this->draft_, port::Seq_len_kv, std::move(lengths));
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
Derived& Attention_attributes<Derived>::set_dropout(float const probability, Tensor_ptr seed, Tensor_ptr offset) {
    shared_fields(*this->draft_).dropout_probability = probability;
    connect(*this->draft_, port::Seed, std::move(seed));
    connect(*this->draft_, port::Offset, std::move(offset));
    return static_cast<Derived&>(*this);
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_rng_dump(Tensor_ptr dump) {
    connect(*this->draft_, port::Rng_dump, std::move(dump));
    return static_cast<Derived&>(*this);
}

}  // namespace detail

template class detail::Attention_attributes<graph::SDPA_attributes>;
template class detail::Attention_attributes<graph::SDPA_backward_attributes>;

namespace graph {

SDPA_attributes::SDPA_attributes()
    : Attention_attributes(detail::make_draft<SdpaForwardFields>(port::kPorts)) {}

SDPA_attributes& SDPA_attributes::set_generate_stats(bool const enabled) {
    fields_of<SdpaForwardFields>(*draft_).generate_stats = enabled;
    return *this;
}
SDPA_attributes& SDPA_attributes::set_is_inference(bool const enabled) { return set_generate_stats(!enabled); }
SDPA_attributes& SDPA_attributes::set_implementation(AttentionImplementation_t implementation) {
    fields_of<SdpaForwardFields>(*draft_).implementation = implementation;
    return *this;
}
SDPA_attributes& SDPA_attributes::set_dropout(detail::Tensor_ptr mask, detail::Tensor_ptr scale) {
    connect(*draft_, port::Dropout_mask, std::move(mask));
    connect(*draft_, port::Dropout_scale, std::move(scale));
    return *this;
}

SDPA_backward_attributes::SDPA_backward_attributes()
    : Attention_attributes(detail::make_draft<SdpaBackwardFields>(port::kPorts)) {}

SDPA_backward_attributes& SDPA_backward_attributes::set_dbias(detail::Tensor_ptr dbias) {
    connect(*draft_, port::dBias, std::move(dbias));
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_deterministic_algorithm(bool const enabled) {
    fields_of<SdpaBackwardFields>(*draft_).deterministic = enabled;
    return *this;
}
SDPA_backward_attributes& SDPA_backward_attributes::set_dropout(detail::Tensor_ptr mask, detail::Tensor_ptr scale,
                                                                detail::Tensor_ptr scale_inverse) {
    connect(*draft_, port::Dropout_mask, std::move(mask));
    connect(*draft_, port::Dropout_scale, std::move(scale));
    connect(*draft_, port::Dropout_scale_inv, std::move(scale_inverse));
    return *this;
}

}  // namespace graph
}  // namespace cudnn_frontend::inline v1
