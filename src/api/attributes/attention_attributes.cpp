// Attention, forward and backward: the setters of its nodes.
#include "api/attributes/attributes_access.h"

namespace cudnn_frontend {

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

static void align(nodes::Draft& draft, DiagonalAlignment_t alignment) {
    nodes::AttentionFields& fields = shared_fields(draft);
    if (fields.said.alignment.value_or(alignment) != alignment) fields.said.earlier_alignment = fields.said.alignment;
    fields.said.alignment = fields.diagonal_alignment = alignment;
}

static void set_left_bound(nodes::Draft& draft, int bound, bool is_window) {
    shared_fields(draft).left_bound = bound;
    shared_fields(draft).said.is_window = is_window;
}

static void mask_behind(nodes::Draft& draft, DiagonalAlignment_t alignment) {
    align(draft, alignment);
    shared_fields(draft).right_bound = 0;
}

template <class Derived>
Derived& Attention_attributes<Derived>::set_attn_scale(Tensor_ptr const& scale) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::AttnScale, scale); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_attn_scale(float const scale) noexcept {
    return this->change([&](nodes::Draft& draft) { shared_fields(draft).attn_scale = scale; });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_bias(Tensor_ptr const& bias) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::Bias, bias); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_alibi_mask(bool const enabled) noexcept {
    return this->change([&](nodes::Draft& draft) { shared_fields(draft).alibi_mask = enabled; });
}
template <class Derived>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from, which the check does not see in a template
Derived& Attention_attributes<Derived>::set_score_mod(Score_modifier modifier) noexcept {
    return this->change([&](nodes::Draft& draft) { draft.score_mod = std::move(modifier); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_sink_token(Tensor_ptr const& sink) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::SinkToken, sink); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_padding_mask(bool const enabled) noexcept {
    return this->change([&](nodes::Draft& draft) { shared_fields(draft).padding_mask = enabled; });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_seq_len_q(Tensor_ptr const& lengths) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::SeqLenQ, lengths); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_seq_len_kv(Tensor_ptr const& lengths) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::SeqLenKv, lengths); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_cu_seq_len_q(Tensor_ptr const& ends) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::CuSeqLenQ, ends); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_cu_seq_len_kv(Tensor_ptr const& ends) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::CuSeqLenKv, ends); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_diagonal_alignment(DiagonalAlignment_t const alignment) noexcept {
    return this->change([&](nodes::Draft& draft) { align(draft, alignment); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_diagonal_band_left_bound(int const bound) noexcept {
    return this->change([&](nodes::Draft& draft) { set_left_bound(draft, bound, false); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_diagonal_band_right_bound(int const bound) noexcept {
    return this->change([&](nodes::Draft& draft) { shared_fields(draft).right_bound = bound; });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_causal_mask(bool const enabled) noexcept {
    return this->change([&](nodes::Draft& draft) {
        if (enabled) mask_behind(draft, DiagonalAlignment_t::TOP_LEFT);
    });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_causal_mask_bottom_right(bool const enabled) noexcept {
    return this->change([&](nodes::Draft& draft) {
        if (enabled) mask_behind(draft, DiagonalAlignment_t::BOTTOM_RIGHT);
    });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_sliding_window_length(int const length) noexcept {
    return this->change([&](nodes::Draft& draft) { set_left_bound(draft, length, true); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_dropout(float const probability, Tensor_ptr const& seed,
                                                    Tensor_ptr const& offset) noexcept {
    return this->change([&](nodes::Draft& draft) {
        shared_fields(draft).dropout_probability = probability;
        connect(draft, port::Seed, seed);
        connect(draft, port::Offset, offset);
    });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_rng_dump(Tensor_ptr const& dump) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::RngDump, dump); });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_stats_use_log2(bool const enabled) noexcept {
    return this->change([&](nodes::Draft& draft) { shared_fields(draft).stats_use_log2 = enabled; });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_max_total_seq_len_q(std::int64_t const tokens) noexcept {
    return this->change([&](nodes::Draft& draft) { shared_fields(draft).max_total_seq_len_q = tokens; });
}
template <class Derived>
Derived& Attention_attributes<Derived>::set_max_total_seq_len_kv(std::int64_t const tokens) noexcept {
    return this->change([&](nodes::Draft& draft) { shared_fields(draft).max_total_seq_len_kv = tokens; });
}

template <class Derived>
Derived& Attention_backward_attributes<Derived>::set_dsink_token(Tensor_ptr const& dsink) noexcept {
    return this->change([&](nodes::Draft& draft) { connect(draft, port::DSinkToken, dsink); });
}
template <class Derived>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from, which the check does not see in a template
Derived& Attention_backward_attributes<Derived>::set_score_mod_bprop(Score_modifier modifier) noexcept {
    return this->change([&](nodes::Draft& draft) { draft.score_mod_bprop = std::move(modifier); });
}
template <class Derived>
Derived& Attention_backward_attributes<Derived>::set_deterministic_algorithm(bool const enabled) noexcept {
    return this->change([&](nodes::Draft& draft) { fields_of<SdpaBackwardFields>(draft).deterministic = enabled; });
}
template <class Derived>
Derived& Attention_backward_attributes<Derived>::set_dropout(Tensor_ptr const& mask, Tensor_ptr const& scale,
                                                             Tensor_ptr const& scale_inverse) noexcept {
    return this->change([&](nodes::Draft& draft) {
        connect(draft, port::DropoutMask, mask);
        connect(draft, port::DropoutScale, scale);
        connect(draft, port::DropoutScaleInv, scale_inverse);
    });
}

}  // namespace detail

template class detail::Attention_attributes<graph::SDPA_attributes>;
template class detail::Attention_attributes<graph::SDPA_backward_attributes>;
template class detail::Attention_attributes<graph::SDPA_fp8_backward_attributes>;
template class detail::Attention_backward_attributes<graph::SDPA_backward_attributes>;
template class detail::Attention_backward_attributes<graph::SDPA_fp8_backward_attributes>;

namespace graph {

SDPA_attributes::SDPA_attributes() noexcept
    : Attention_attributes(detail::make_draft<SdpaForwardFields>(port::Stats + 1)) {}

SDPA_attributes& SDPA_attributes::set_generate_stats(bool const enabled) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<SdpaForwardFields>(draft).generate_stats = enabled; });
}
SDPA_attributes& SDPA_attributes::set_is_inference(bool const enabled) noexcept { return set_generate_stats(!enabled); }
SDPA_attributes& SDPA_attributes::set_implementation(AttentionImplementation_t implementation) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<SdpaForwardFields>(draft).implementation = implementation; });
}
SDPA_attributes& SDPA_attributes::set_unfuse_fma(bool const enabled) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<SdpaForwardFields>(draft).unfuse_fma = enabled; });
}
SDPA_attributes& SDPA_attributes::set_logit_max(detail::Tensor_ptr const& max) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::Max, max); });
}
SDPA_attributes& SDPA_attributes::set_score_sum_exp(detail::Tensor_ptr const& sum_exp) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::SumExp, sum_exp); });
}
SDPA_attributes& SDPA_attributes::set_dropout(detail::Tensor_ptr const& mask,
                                              detail::Tensor_ptr const& scale) noexcept {
    return change([&](nodes::Draft& draft) {
        connect(draft, port::DropoutMask, mask);
        connect(draft, port::DropoutScale, scale);
    });
}

SDPA_attributes& SDPA_attributes::set_paged_attention_k_table(detail::Tensor_ptr const& table) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::PageTableK, table); });
}
SDPA_attributes& SDPA_attributes::set_paged_attention_v_table(detail::Tensor_ptr const& table) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::PageTableV, table); });
}
SDPA_attributes& SDPA_attributes::set_paged_attention_max_seq_len_kv(int const length) noexcept {
    return change([&](nodes::Draft& draft) { fields_of<SdpaForwardFields>(draft).max_seq_len_kv = length; });
}
SDPA_attributes& SDPA_attributes::set_block_mask(detail::Tensor_ptr const& mask) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::BlockMask, mask); });
}

SDPA_backward_attributes::SDPA_backward_attributes() noexcept
    : Attention_backward_attributes(detail::make_draft<SdpaBackwardFields>(port::DV + 1)) {}

SDPA_backward_attributes& SDPA_backward_attributes::set_dbias(detail::Tensor_ptr const& dbias) noexcept {
    return change([&](nodes::Draft& draft) { connect(draft, port::DBias, dbias); });
}

SDPA_fp8_backward_attributes::SDPA_fp8_backward_attributes() noexcept
    : Attention_backward_attributes(detail::make_draft<SdpaBackwardFields>(port::DV + 1)) {}

bool SDPA_fp8_backward_attributes::has_causal_like_masking() const {
    return fields_of<SdpaBackwardFields>(draft_).right_bound == 0;
}
bool SDPA_fp8_backward_attributes::has_causal_mask_bottom_right() const {
    bool const is_bottom_right =
        fields_of<SdpaBackwardFields>(draft_).diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    return is_bottom_right && has_causal_like_masking();
}
bool SDPA_fp8_backward_attributes::has_sliding_window() const {
    return fields_of<SdpaBackwardFields>(draft_).left_bound.has_value();
}
bool SDPA_fp8_backward_attributes::has_sink_token() const {
    return draft_ != nullptr && draft_->ports.size() > port::SinkToken && draft_->ports[port::SinkToken] != nullptr;
}

}  // namespace graph
}  // namespace cudnn_frontend
