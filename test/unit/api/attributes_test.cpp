#include "api/attributes/attributes_access.h"

#include "support/catch.h"

using namespace cudnn_frontend;
using detail::Attributes_access;
using graph::SDPA_attributes;
using graph::SDPA_backward_attributes;

namespace {

template <class Attributes>
nodes::AttentionFields const& fields(Attributes const& attributes) {
    static nodes::Draft draft;
    draft = Attributes_access::take(attributes);
    if (auto const* forward = std::get_if<nodes::SdpaForwardFields>(&draft.fields)) return *forward;
    return std::get<nodes::SdpaBackwardFields>(draft.fields);
}

// Checks that hold for both directions.
template <class Attributes>
void check_masks() {
    CHECK_FALSE(fields(Attributes()).right_bound);
    CHECK(fields(Attributes().set_causal_mask(true)).right_bound == 0);
    CHECK(fields(Attributes().set_causal_mask(true)).diagonal_alignment == DiagonalAlignment_t::TOP_LEFT);
    CHECK(fields(Attributes().set_causal_mask_bottom_right(true)).diagonal_alignment ==
          DiagonalAlignment_t::BOTTOM_RIGHT);
    CHECK(fields(Attributes().set_diagonal_band_right_bound(5).set_causal_mask(true)).right_bound == 0);
    CHECK(fields(Attributes().set_causal_mask(true).set_causal_mask_bottom_right(false)).diagonal_alignment ==
          DiagonalAlignment_t::TOP_LEFT);
    CHECK(fields(Attributes().set_causal_mask_bottom_right(true).set_causal_mask(false)).diagonal_alignment ==
          DiagonalAlignment_t::BOTTOM_RIGHT);
    CHECK_FALSE(fields(Attributes().set_causal_mask(false)).right_bound);
    CHECK(fields(Attributes().set_sliding_window_length(7)).left_bound == 7);
    CHECK(fields(Attributes().set_diagonal_band_left_bound(9)).left_bound == 9);
    CHECK(fields(Attributes().set_alibi_mask(true)).alibi_mask);
    CHECK(fields(Attributes().set_padding_mask(true)).padding_mask);
    CHECK(fields(Attributes().set_attn_scale(0.25f)).attn_scale == 0.25f);
    CHECK(fields(Attributes().set_dropout(0.5f, nullptr, nullptr)).dropout_probability == 0.5f);
}

template <class Attributes>
void check_tensor_ports() {
    auto const tensor = [] { return std::make_shared<graph::Tensor_attributes>(); };
    auto const scale = tensor(), bias = tensor(), len_q = tensor(), len_kv = tensor(), seed = tensor(),
               offset = tensor(), dump = tensor(), sink = tensor();
    Attributes attributes;
    attributes.set_attn_scale(scale).set_bias(bias).set_sink_token(sink).set_seq_len_q(len_q).set_seq_len_kv(len_kv);
    attributes.set_dropout(0.1f, seed, offset).set_rng_dump(dump);
    auto const ports = Attributes_access::take(attributes).ports;
    namespace port = nodes::attention;
    CHECK(ports[port::AttnScale] == scale);
    CHECK(ports[port::Bias] == bias);
    CHECK(ports[port::SinkToken] == sink);
    CHECK(ports[port::SeqLenQ] == len_q);
    CHECK(ports[port::SeqLenKv] == len_kv);
    CHECK(ports[port::Seed] == seed);
    CHECK(ports[port::Offset] == offset);
    CHECK(ports[port::RngDump] == dump);
}

}  // namespace

TEST_CASE("mask setters mean the same forward and backward") {
    check_masks<SDPA_attributes>();
    check_masks<SDPA_backward_attributes>();
    check_tensor_ports<SDPA_attributes>();
    check_tensor_ports<SDPA_backward_attributes>();
}

TEST_CASE("tensors that receive more than the results are connected to their ports") {
    namespace port = nodes::attention;
    auto const first = std::make_shared<graph::Tensor_attributes>();
    auto const second = std::make_shared<graph::Tensor_attributes>();
    auto const forward =
        Attributes_access::take(SDPA_attributes().set_logit_max(first).set_score_sum_exp(second)).ports;
    CHECK(forward[port::Max] == first);
    CHECK(forward[port::SumExp] == second);
    CHECK(Attributes_access::take(SDPA_attributes().set_block_mask(first)).ports[port::BlockMask] == first);
    auto const backward =
        Attributes_access::take(SDPA_backward_attributes().set_dbias(first).set_dsink_token(second)).ports;
    CHECK(backward[port::DBias] == first);
    CHECK(backward[port::DSinkToken] == second);
}

TEST_CASE("stats are off until asked for, under either name") {
    auto const stats = [](SDPA_attributes const& attributes) {
        return std::get<nodes::SdpaForwardFields>(Attributes_access::take(attributes).fields).generate_stats;
    };
    CHECK_FALSE(stats(SDPA_attributes()));
    CHECK(stats(SDPA_attributes().set_generate_stats(true)));
    CHECK(stats(SDPA_attributes().set_is_inference(false)));
    CHECK_FALSE(stats(SDPA_attributes().set_generate_stats(true).set_is_inference(true)));
}

TEST_CASE("a copy of attributes is independent, and a moved-from object stays usable") {
    SDPA_attributes first;
    first.set_name("first").set_causal_mask(true);
    SDPA_attributes second = first;
    second.set_name("second").set_alibi_mask(true);
    CHECK(first.name == "first");
    CHECK_FALSE(fields(first).alibi_mask);
    CHECK(fields(second).right_bound == 0);
    SDPA_attributes const third = std::move(second);
    CHECK(fields(third).alibi_mask);
    second.set_padding_mask(true);
    CHECK_FALSE(fields(third).padding_mask);
    first = third;
    CHECK(fields(first).alibi_mask);
}

TEST_CASE("the older names are the same types") {
    CHECK(std::is_same_v<graph::Scaled_dot_product_flash_attention_attributes, SDPA_attributes>);
    CHECK(std::is_same_v<graph::Scaled_dot_product_flash_attention_backward_attributes, SDPA_backward_attributes>);
}
