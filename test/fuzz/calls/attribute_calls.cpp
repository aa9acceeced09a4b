// Calls on attributes of nodes.
#include "fuzz/calls/machine.h"

#include <cudnn_frontend/score_modifiers.h>

#include <utility>

namespace fuzz {
namespace {

namespace modifiers = cudnn_frontend::graph::attn::score_modifiers;
using cudnn_frontend::AttentionImplementation_t;
using cudnn_frontend::DataType_t;
using cudnn_frontend::DiagonalAlignment_t;
using cudnn_frontend::PointwiseMode_t;
using cudnn_frontend::ReductionMode_t;

float number(std::int64_t value) { return static_cast<float>(value) * 0.25f; }

// Options that forward and backward attention share, on both.
template <class Change>
void on_attention(Machine& m, Change change) {
    change(m.forward);
    change(m.backward);
    change(m.fp8_backward);
}

void set_tensor(Machine& m, Numbers const& n) {
    Tensor_ptr const tensor = n.in(m.tensors, 1), other = n.in(m.tensors, 2);
    on_attention(m, [&](auto& attributes) {
        switch (n.as<int>(0, 9)) {
            case 0: attributes.set_bias(tensor); return;
            case 1: attributes.set_seq_len_q(tensor).set_seq_len_kv(other); return;
            case 2: attributes.set_cu_seq_len_q(tensor).set_cu_seq_len_kv(other); return;
            case 3: attributes.set_attn_scale(tensor); return;
            case 4: attributes.set_sink_token(tensor); return;
            case 5: attributes.set_rng_dump(tensor); return;
            case 6: attributes.set_dropout(number(n[3]), tensor, other); return;
            case 7: attributes.set_padding_mask(n.flag(3)); return;
            default: attributes.set_seq_len_kv(tensor);
        }
    });
}

void set_number(Machine& m, Numbers const& n) {
    int const bound = static_cast<int>(n[1]);
    on_attention(m, [&](auto& attributes) {
        switch (n.as<int>(0, 9)) {
            case 0: attributes.set_diagonal_band_left_bound(bound); return;
            case 1: attributes.set_diagonal_band_right_bound(bound); return;
            case 2: attributes.set_diagonal_alignment(n.as<DiagonalAlignment_t>(1, 3)); return;
            case 3: attributes.set_sliding_window_length(bound); return;
            case 4: attributes.set_attn_scale(number(n[1])); return;
            case 5: attributes.set_causal_mask(n.flag(1)).set_causal_mask_bottom_right(n.flag(2)); return;
            case 6: attributes.set_stats_use_log2(n.flag(1)); return;
            case 7: attributes.set_max_total_seq_len_q(n[1]).set_max_total_seq_len_kv(n[2]); return;
            default: attributes.set_alibi_mask(n.flag(1));
        }
    });
}

void set_for_forward(Machine& m, Numbers const& n) {
    Tensor_ptr const tensor = n.in(m.tensors, 1), other = n.in(m.tensors, 2);
    switch (n.as<int>(0, 8)) {
        case 0: m.forward.set_generate_stats(n.flag(3)); return;
        case 1: m.forward.set_implementation(n.as<AttentionImplementation_t>(1, 4)); return;
        case 2: m.forward.set_logit_max(tensor); return;
        case 3: m.forward.set_score_sum_exp(tensor); return;
        case 4: m.forward.set_dropout(tensor, other); return;
        case 5: m.forward.set_paged_attention_k_table(tensor).set_paged_attention_v_table(other); return;
        case 6: m.forward.set_paged_attention_max_seq_len_kv(static_cast<int>(n[1])); return;
        default: m.forward.set_block_mask(tensor);
    }
}

void set_for_backward(Machine& m, Numbers const& n) {
    Tensor_ptr const tensor = n.in(m.tensors, 1), other = n.in(m.tensors, 2);
    switch (n.as<int>(0, 4)) {
        case 0: m.backward.set_dbias(tensor); return;
        case 1: m.backward.set_dsink_token(tensor); return;
        case 2: m.backward.set_dropout(tensor, other, n.in(m.tensors, 3)); return;
        default: m.backward.set_deterministic_algorithm(n.flag(1));
    }
}

// The program's own modifiers: they return a chain of nodes, their argument, null, or an arbitrary tensor.
void set_modifier(Machine& m, Numbers const& n) {
    Tensor_ptr const tensor = n.in(m.tensors, 1), other = n.in(m.tensors, 2);
    on_attention(m, [&](auto& attributes) {
        switch (n.as<int>(0, 9)) {
            case 0: attributes.set_score_mod(nullptr); return;
            case 1: attributes.set_score_mod(modifiers::causal_mask); return;
            case 2: attributes.set_score_mod(modifiers::alibi(tensor)); return;
            case 3: attributes.set_score_mod(modifiers::document_mask(tensor, other)); return;
            case 4: attributes.set_score_mod(modifiers::dilated_window(static_cast<int>(n[1]), 2)); return;
            case 5: attributes.set_score_mod(modifiers::softcap(number(n[1])).forward); return;
            case 6: attributes.set_score_mod([tensor](auto const&, auto const&) { return tensor; }); return;
            case 7: attributes.set_score_mod([](auto const&, auto const& scores) { return scores; }); return;
            default: attributes.set_score_mod([](auto const&, auto const&) -> Tensor_ptr { throw 1; });
        }
    });
}

void set_plain(Machine& m, Numbers const& n) {
    m.pointwise.set_mode(n.as<PointwiseMode_t>(0, 60)).set_axis(n[1]).set_relu_lower_clip(number(n[2]));
    m.reduction.set_mode(n.as<ReductionMode_t>(0, 12)).set_is_deterministic(n.flag(1));
    m.matmul.set_m_override(n.in(m.tensors, 3)).set_padding(static_cast<double>(n[1]));
    m.pointwise.set_compute_data_type(n.as<DataType_t>(3, 23));
}

void set_move(Machine& m, Numbers const& n) {
    m.slice.set_slices({{0, 1}, {0, 1}, {n[0], n[1]}, {n[2], n[3]}}).set_strides({1, 1, n[1] & 7, 1});
    m.reshape.set_dim({1, 1, n[2] & 15, n[3]}).set_reshape_mode(n.as<cudnn_frontend::ReshapeMode_t>(0, 4));
    if (n.flag(1)) m.reshape.set_stride({1, 1, n[0], 1});
    m.transpose.set_permutation({0, 1, n[1] & 3, n[2]});
}

// Lists that fit a line of six tokens, more often than not.
void set_neighborhood(Machine& m, Numbers const& n) {
    auto const set = [&](auto& attributes) {
        attributes.set_kernel_size({n.flag(0) ? 1 + (n[1] & 3) : n[1]});
        if (n.flag(2)) attributes.set_dilation({1 + (n[3] & 1)});
        if (n.flag(3)) attributes.set_is_causal(std::vector<bool>(n.as<std::size_t>(2, 3), true));
    };
    set(m.neighborhood.set_generate_stats(n.flag(3)).set_attn_scale(number(n[2])));
    set(m.neighborhood_backward.set_drel_pos_bias(n.flag(1) ? n.in(m.tensors, 2) : nullptr));
    set(m.neighborhood_qk.set_rel_pos_bias(n.flag(1) ? n.in(m.tensors, 2) : nullptr));
    set(m.neighborhood_av);
}

void rename(Machine& m, Numbers const& n) {
    on_attention(
        m, [&](auto& attributes) { attributes.set_name(std::string(static_cast<std::size_t>(n[1] & 0xff), 'n')); });
}

void start_anew(Machine& m, Numbers const& n) {
    if (n.flag(0)) m.forward = {};
    if (n.flag(1)) m.backward = {};
    m.fp8_backward = {};
    m.matmul = {};
}

// A moved-from object is unchanged.
void move(Machine& m, Numbers const&) {
    auto taken = std::move(m.forward);
    auto again = std::move(m.forward);
    m.forward = std::move(taken);
    m.forward = again;
}

constexpr Call kCalls[] = {
    {"attributes.set_tensor", set_tensor},
    {"attributes.set_number", set_number},
    {"attributes.set_for_forward", set_for_forward},
    {"attributes.set_for_backward", set_for_backward},
    {"attributes.set_modifier", set_modifier},
    {"attributes.set_plain", set_plain},
    {"attributes.set_move", set_move},
    {"attributes.set_neighborhood", set_neighborhood},
    {"attributes.rename", rename},
    {"attributes.start_anew", start_anew},
    {"attributes.move", move},
};

}  // namespace

std::span<Call const> attribute_calls() { return kCalls; }

}  // namespace fuzz
