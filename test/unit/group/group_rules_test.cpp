// The rules of graphs that a group computes: each broken alone, and several at once.
#include "support/catch.h"
#include "support/group_graph.h"

#include <cudnn_frontend/score_modifiers.h>
#include <cudnn_frontend/verification.h>

#include <array>
#include <optional>

using namespace test;
using cudnn_frontend::graph::SDPA_attributes;
using cudnn_frontend::graph::Tensor_attributes;

namespace {

Layout const kLayout = Layout::contiguous(24, 2);

Group described(int ranks = 2) {
    Group member;
    REQUIRE(Group::described(0, ranks, member).is_good());
    return member;
}

std::string refusal(RankPart& part, Layout const& layout = kLayout, Group_options const& options = {},
                    Group const& group = described()) {
    return part.build(group, layout, options).get_message();
}

std::string refusal_of(RankPart::Options const& options) {
    RankPart part({}, kLayout, 0, options);
    return refusal(part);
}

std::shared_ptr<Tensor_attributes> tensor_of(std::vector<std::int64_t> const& dim, cudnn_frontend::DataType_t type) {
    auto made = std::make_shared<Tensor_attributes>();
    made->set_dim(dim).set_stride({dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1}).set_data_type(type);
    return made;
}

}  // namespace

TEST_CASE("group.c01: nodes that do more than modify scores") {
    RankPart part({}, kLayout, 0);
    auto const o = part.output_of_attention();
    part.graph
        .pointwise(o, cudnn_frontend::graph::Pointwise_attributes().set_mode(cudnn_frontend::PointwiseMode_t::TANH_FWD))
        ->set_output(true);
    CHECK_THAT(refusal(part),
               Catch::Contains("[group.c01]: found a graph of 2 nodes; expected one node, of attention or its "
                               "backward, and pointwise nodes that modify scores. Try: compute what is around it in "
                               "other graphs"));
}

TEST_CASE("group.c02: a group without a rank, and layouts for other groups") {
    RankPart part({}, kLayout, 0);
    CHECK_THAT(refusal(part, kLayout, {}, Group()), Catch::Contains("[group.c02] node 'attention': found a Group()"));
    CHECK_THAT(
        refusal(part, kLayout, {}, described(3)),
        Catch::Contains("[group.c02] node 'attention': found a layout for 2 ranks; expected one for the 3 ranks"));
}

TEST_CASE("group.c03: layouts with holes, tokens of two ranks and ranks without tokens") {
    RankPart part({}, kLayout, 0);
    auto const fault = [&](Layout const& layout) { return refusal(part, layout); };
    CHECK_THAT(fault(Layout::of({{{0, 12}}, {{13, 11}}})),
               Catch::Contains("[group.c03]") && Catch::Contains("tokens 12 to 12 are of no rank"));
    CHECK_THAT(fault(Layout::of({{{0, 12}}, {{11, 11}}})), Catch::Contains("token 11 is before 0 or of two ranges"));
    CHECK_THAT(fault(Layout::of({{{0, 12}}, {}})), Catch::Contains("found rank 1 has no token"));
    CHECK_THAT(fault(Layout::of({{{0, 12}}, {{12, -2}}})), Catch::Contains("found a range of -2 tokens from 12"));
}

TEST_CASE("group.c04: tensors of other lengths than the rank's tokens") {
    RankPart part({}, Layout::contiguous(26, 2), 0);
    std::string const message = refusal(part);
    CHECK_THAT(message,
               Catch::Contains("[group.c04] node 'attention', tensors 'Q', 'K': found 13 rows; expected the 12 "
                               "tokens that the layout gives to rank 0"));
}

TEST_CASE("group.c05: operands that ranks do not have for their rows") {
    RankPart const part({}, kLayout, 0);
    auto const tensor = [](std::int64_t rows, std::int64_t columns, cudnn_frontend::DataType_t type) {
        auto made = std::make_shared<Tensor_attributes>();
        made->set_dim({1, 1, rows, columns})
            .set_stride({rows * columns, rows * columns, columns, 1})
            .set_data_type(type);
        return made;
    };
    auto const with_bias = [&](std::int64_t columns) {
        RankPart graph({}, kLayout, 0, [&](SDPA_attributes& options) {
            options.set_bias(tensor(12, columns, cudnn_frontend::DataType_t::FLOAT));
        });
        return refusal(graph);
    };
    CHECK_THAT(with_bias(12),
               Catch::Contains("[group.c05] node 'attention', tensor 'bias': found a bias of [1, 1, 12, 12]; "
                               "expected a last dim of 1, and two keys or more on each rank"));
    CHECK(with_bias(1).empty());
    CHECK_THAT(refusal_of([&](SDPA_attributes& options) {
                   using enum cudnn_frontend::DataType_t;
                   options.set_dropout(tensor(12, 12, FLOAT), tensor(1, 1, FLOAT));
               }),
               Catch::Contains("[group.c05] node 'attention', tensors 'dropout_mask', 'dropout_scale': found it is "
                               "connected"));
}

namespace {

// A rank's part of an attention over two packed documents of up to 12 tokens.
struct PackedPart {
    bool is_q_packed = true, is_o_packed = true, shares_lengths = true, has_heads_first = false;
    cudnn_frontend::DataType_t length_type = cudnn_frontend::DataType_t::INT32;

    using Tensor = std::shared_ptr<Tensor_attributes>;

    std::string refusal(SDPA_attributes options, Group_options const& chosen = {}) const {
        using cudnn_frontend::DataType_t;
        Graph graph;
        graph.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
        graph.set_compute_data_type(DataType_t::FLOAT);
        auto const numbers = [&](std::int64_t count, DataType_t type) {
            return graph.tensor(
                Tensor_attributes().set_dim({count, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_data_type(type));
        };
        Tensor const starts = numbers(3, DataType_t::INT32);
        auto const rows = [&](Tensor const& tensor, bool is_packed) {
            tensor->set_dim({2, 2, 12, 8}).set_stride({192, has_heads_first ? 96 : 8, has_heads_first ? 8 : 16, 1});
            if (is_packed) tensor->set_ragged_offset(starts);
            return tensor;
        };
        auto const input = [&](bool is_packed) { return rows(graph.tensor(Tensor_attributes()), is_packed); };
        Tensor const lengths = numbers(2, length_type);
        options.set_name("attention").set_padding_mask(true).set_seq_len_q(lengths);
        options.set_seq_len_kv(shares_lengths ? lengths : numbers(2, length_type));
        auto const inputs = std::array{input(is_q_packed), input(true), input(true)};
        Tensor const o = graph.sdpa(inputs[0], inputs[1], inputs[2], options)[0];
        o->set_output(true).set_data_type(DataType_t::FLOAT);
        o->set_dim({2, 2, 12, 8}).set_stride({192, 8, 16, 1});
        if (is_o_packed) o->set_ragged_offset(starts);
        return graph.set_group(described(), kLayout, chosen).build(Target::cpu()).get_message();
    }
};

}  // namespace

TEST_CASE("group.c06: some packed tensors") {
    CHECK_THAT((PackedPart{.is_q_packed = false, .is_o_packed = false}.refusal({})),
               Catch::Contains("[group.c06] node 'attention': found a tensor that is packed by lengths"));
    CHECK(PackedPart().refusal({}).empty());
}

TEST_CASE("group.c24: packed tensors that ranks cannot divide by tokens") {
    auto const found = [](char const* what) {
        return Catch::Contains("[group.c24] node 'attention': found " + std::string(what) +
                               "; expected packed tensors");
    };
    CHECK_THAT((PackedPart{.is_o_packed = false}.refusal({})), found("O without a ragged offset"));
    CHECK_THAT((PackedPart{.has_heads_first = true}.refusal({})), found("strides [192, 96, 8, 1] of Q"));
    CHECK_THAT((PackedPart{.length_type = cudnn_frontend::DataType_t::INT64}.refusal({})), found("lengths of INT64"));
    Group_options options;
    options.keys = Layout::contiguous(20, 2);
    CHECK_THAT(PackedPart().refusal(SDPA_attributes().set_causal_mask(true), options),
               found("bounds, and layouts of 24 queries and 20 keys"));
    CHECK(PackedPart().refusal({}, options).empty());
}

TEST_CASE("group.c25: packed documents of which GATHER cannot compute parts, and ALL_TO_ALL can") {
    using sdpa_graph::Group_way;
    struct Case {
        PackedPart part;
        SDPA_attributes options;
        char const* found;
    };
    for (Case const& c : {Case{{.shares_lengths = false}, {}, "two tensors of lengths"},
                          Case{{}, SDPA_attributes().set_diagonal_band_right_bound(2), "bounds that are not causal"}}) {
        CHECK_THAT(c.part.refusal(c.options, {Group_way::GATHER, 0, {}}),
                   Catch::Contains("[group.c25] node 'attention': found " + std::string(c.found)));
        CHECK(c.part.refusal(c.options, {Group_way::ALL_TO_ALL, 0, {}}).empty());
        CHECK(c.part.refusal(c.options).empty());
    }
    for (bool const has_alibi : {false, true}) {
        auto const options = SDPA_attributes().set_causal_mask(true).set_alibi_mask(has_alibi);
        CHECK(PackedPart().refusal(options, {Group_way::GATHER, 0, {}}).empty());
    }
}

TEST_CASE("group.c07: queries that see no key of the whole attention") {
    Group_options options;
    options.keys = Layout::contiguous(20, 2);
    RankPart part({.is_causal = false}, kLayout, 0,
                  [](SDPA_attributes& attention) { attention.set_causal_mask_bottom_right(true); });
    std::string const message = refusal(part, kLayout, options);
    CHECK_THAT(message,
               Catch::Contains("[group.c07] node 'attention': found a band in which some of 24 queries see none "
                               "of 20 keys; expected a key for each query"));
}

TEST_CASE("group.c08: results without memory") {
    Graph forward;
    forward.set_io_data_type(cudnn_frontend::DataType_t::FLOAT)
        .set_intermediate_data_type(cudnn_frontend::DataType_t::FLOAT);
    forward.set_compute_data_type(cudnn_frontend::DataType_t::FLOAT);
    auto const rows = [&] {
        return forward.tensor(Tensor_attributes().set_dim({1, 2, 12, 8}).set_stride({192, 96, 8, 1}));
    };
    SDPA_attributes options;
    options.set_name("attention").set_generate_stats(true);
    forward.sdpa(rows(), rows(), rows(), options)[1]->set_output(true);
    CHECK_THAT(
        forward.set_group(described(), kLayout).build(Target::cpu()).get_message(),
        Catch::Contains("[group.c08] node 'attention': found a result without memory; expected memory for O. Try: "
                        "set_output(true) on it"));
}

TEST_CASE("group.c10, group.c11: heads that a forced way or stages do not divide") {
    RankPart part({}, Layout::contiguous(24, 3), 0);
    auto const forced = [&](Group_options const& options) {
        return refusal(part, Layout::contiguous(24, 3), options, described(3));
    };
    CHECK_THAT(forced({sdpa_graph::Group_way::ALL_TO_ALL, 0, {}}),
               Catch::Contains(
                   "[group.c10] node 'attention': found 2 heads of K and 2 of V; expected multiples of the 3 ranks. "
                   "Try: use GATHER or AUTO"));
    CHECK_THAT(
        forced({sdpa_graph::Group_way::GATHER, 4, {}}),
        Catch::Contains("[group.c11] node 'attention': found 4 stages for 2 heads of K and 2 of V; expected a divisor "
                        "of both, or 0 to have it chosen"));
    CHECK(forced({sdpa_graph::Group_way::GATHER, 2, {}}).empty());
}

TEST_CASE("group.c12: targets where the group does not exchange data") {
    RankPart part({}, kLayout, 0);
    part.graph.set_group(threads_group(2)[0], kLayout);
    CHECK_THAT(part.graph.build(Target::offline("h200")).get_message(),
               Catch::Contains("[group.c12]: found the target offline and a group of threads of this process"));
}

TEST_CASE("group.c13: settings that make another program") {
    RankPart part({}, kLayout, 0);
    part.graph.set_rewrites({cudnn_frontend::Rewrite_t::FEW_QUERIES});
    CHECK_THAT(refusal(part), Catch::Contains("[group.c13]: found set_rewrites() with a list; expected none of them"));
    RankPart overridden({}, kLayout, 0);
    overridden.graph.set_override_shape_enabled(true);
    CHECK_THAT(refusal(overridden), Catch::Contains("[group.c13]: found set_override_shape_enabled(true)"));
    RankPart limited({}, kLayout, 0);
    limited.graph.set_workspace_limit(1000);
    CHECK_THAT(refusal(limited), Catch::Contains("[group.c13]: found set_workspace_limit()"));
    RankPart invariant({}, kLayout, 0);
    invariant.graph.set_batch_invariant(true);
    CHECK_THAT(refusal(invariant), Catch::Contains("[group.c13]: found set_batch_invariant(true)"));
    RankPart of_class({}, kLayout, 0);
    of_class.graph.set_shape_policy(cudnn_frontend::ShapePolicy_t::CLASSES);
    CHECK_THAT(refusal(of_class), Catch::Contains("[group.c13]: found set_shape_policy(ShapePolicy_t::CLASSES)"));
    of_class.graph.set_shape_policy(cudnn_frontend::ShapePolicy_t::ALL_SHAPES);
    CHECK_THAT(refusal(of_class), Catch::Contains("[group.c13]: found set_shape_policy(ShapePolicy_t::ALL_SHAPES)"));
}

TEST_CASE("group.c21: calls that a rank's part does not have") {
    RankPart part({}, Layout::contiguous(24, 1), 0);
    REQUIRE(part.build(threads_group(1)[0], Layout::contiguous(24, 1)).get_message() == "");
    std::map<std::int64_t, void*> pack;
    for (auto& [uid, numbers] : part.memory) pack[uid] = numbers.data();
    cudnn_frontend::Verification verification;
    CHECK_THAT(part.graph.verify(pack, verification).get_message(),
               Catch::Contains("[group.c21]: found verify() of a graph with set_group()"));
    std::vector<double> workspace(static_cast<std::size_t>(part.graph.get_workspace_size()) / sizeof(double) + 1);
    auto* const recording = reinterpret_cast<CUgraph_st*>(workspace.data());
    CHECK_THAT(part.graph.update_cuda_graph(cudnnHandle_t(nullptr), pack, workspace.data(), recording).get_message(),
               Catch::Contains("[group.c21]: found update_cuda_graph() of gather(1)"));
    CHECK_THAT(part.graph.populate_cuda_graph(cudnnHandle_t(nullptr), pack, workspace.data(), recording).get_message(),
               Catch::Contains("a CUDA graph holds only plans that run on a GPU"));
}

TEST_CASE("group.c22: score modifiers with a number for each key, or for what may be the only key") {
    auto const slopes = [](std::vector<std::int64_t> const& dim) {
        auto const tensor = std::make_shared<Tensor_attributes>();
        tensor->set_name("slopes").set_dim(dim).set_stride({dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1});
        tensor->set_data_type(cudnn_frontend::DataType_t::FLOAT);
        return [tensor](SDPA_attributes& options) {
            options.set_score_mod([tensor](auto const& graph, auto const& score) {
                auto const mode = cudnn_frontend::PointwiseMode_t::ADD;
                return graph->pointwise(score, tensor, cudnn_frontend::graph::Pointwise_attributes().set_mode(mode));
            });
        };
    };
    CHECK_THAT(refusal_of(slopes({1, 4, 1, 12})),
               Catch::Contains("[group.c22] node 'attention', tensor 'slopes': found a tensor of [1, 4, 1, 12] that a "
                               "score modifier reads; expected a last dim of 1"));
    CHECK(refusal_of(slopes({1, 4, 12, 1})).empty());
    Layout const single = Layout::of({{{0, 12}}, {{12, 1}}});
    RankPart part({.tokens = 13}, single, 0, slopes({1, 4, 1, 1}));
    CHECK_THAT(refusal(part, single), Catch::Contains("[group.c22]"));
}

TEST_CASE("group.c23: lengths that GATHER cannot divide, which ALL_TO_ALL need not") {
    auto const with_lengths = [](cudnn_frontend::DataType_t type, bool is_bottom_right, bool has_sums) {
        auto const tensor = [=] {
            auto made = std::make_shared<Tensor_attributes>();
            made->set_dim({has_sums ? 2 : 1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_data_type(type);
            return made;
        };
        return [=](SDPA_attributes& options) {
            options.set_padding_mask(true);
            if (has_sums) options.set_cu_seq_len_q(tensor()).set_cu_seq_len_kv(tensor());
            else options.set_seq_len_q(tensor()).set_seq_len_kv(tensor());
            if (is_bottom_right) options.set_causal_mask(false).set_causal_mask_bottom_right(true);
        };
    };
    using enum cudnn_frontend::DataType_t;
    auto const in_window = [=](std::optional<cudnn_frontend::DataType_t> sink, bool has_base_2, bool has_sums) {
        return [=](SDPA_attributes& options) {
            with_lengths(INT32, false, false)(options);
            options.set_diagonal_band_left_bound(4).set_stats_use_log2(has_base_2);
            if (has_sums) options.set_score_sum_exp(tensor_of({1, 4, 12, 1}, FLOAT));
            if (sink) options.set_sink_token(tensor_of({1, 4, 1, 1}, *sink));
        };
    };
    auto const refusal_by = [&](sdpa_graph::Group_way way, RankPart::Options const& options) {
        RankPart part({}, kLayout, 0, options);
        return refusal(part, kLayout, {way, 0, {}});
    };
    struct Case {
        RankPart::Options options;
        char const* found;
    };
    for (Case const& c :
         {Case{with_lengths(INT64, false, false), "found lengths of INT64"},
          Case{with_lengths(INT32, false, true), "found sums of lengths"},
          Case{with_lengths(INT32, true, false), "found a diagonal to the bottom right"},
          Case{in_window(HALF, false, false), "found a left bound with lengths and a sink token that is not of FLOAT"},
          Case{in_window(FLOAT, true, false), "found a left bound with lengths and a sink token with Stats of base 2"},
          Case{in_window(FLOAT, false, true), "found a left bound with lengths and a sink token with Sum_exp"}}) {
        CHECK_THAT(refusal_by(sdpa_graph::Group_way::GATHER, c.options),
                   Catch::Contains("[group.c23] node 'attention': ") && Catch::Contains(c.found));
        CHECK(refusal_by(sdpa_graph::Group_way::ALL_TO_ALL, c.options).empty());
        CHECK(refusal_by(sdpa_graph::Group_way::AUTO, c.options).empty());
    }
    for (RankPart::Options const& options :
         {RankPart::Options(with_lengths(INT32, false, false)), RankPart::Options(in_window({}, true, true)),
          RankPart::Options(in_window(FLOAT, false, false))}) {
        CHECK(refusal_by(sdpa_graph::Group_way::GATHER, options).empty());
    }
}

TEST_CASE("group.c27: attention whose parts a ring cannot join") {
    using sdpa_graph::Group_way;
    Group_options options{Group_way::RING, 0, {}};
    auto const found = [](char const* what) {
        return Catch::Contains("[group.c27] node 'attention': found " + std::string(what) + "; expected one layout");
    };
    CHECK_THAT(PackedPart().refusal({}, options), found("documents"));
    auto const sink = tensor_of({1, 4, 1, 1}, cudnn_frontend::DataType_t::FLOAT);
    RankPart with_sink({}, kLayout, 0, [&](SDPA_attributes& attention) { attention.set_sink_token(sink); });
    CHECK_THAT(refusal(with_sink, kLayout, options), found("sink_token"));
    RankPart in_base_2({}, kLayout, 0, [](SDPA_attributes& attention) { attention.set_stats_use_log2(true); });
    CHECK_THAT(refusal(in_base_2, kLayout, options), found("Stats of base 2"));
    RankPart causal({}, kLayout, 0, [](SDPA_attributes& attention) {
        attention.set_score_mod(cudnn_frontend::graph::attn::score_modifiers::causal_mask);
    });
    CHECK_THAT(refusal(causal, kLayout, options), found("a score modifier that counts rows or columns"));
    RankPart alike({}, kLayout, 0);
    CHECK(refusal(alike, kLayout, options).empty());
    options.keys = Layout::head_tail(24, 2);
    CHECK_THAT(refusal(alike, kLayout, options), found("keys that are not split as queries are"));
}

TEST_CASE("group.c26: a seed and an offset by value") {
    auto const with_dropout = [](bool is_by_value) {
        auto const number = [=] {
            auto made = std::make_shared<Tensor_attributes>();
            made->set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_is_pass_by_value(is_by_value);
            made->set_data_type(cudnn_frontend::DataType_t::INT64);
            return made;
        };
        return [=](SDPA_attributes& options) { options.set_dropout(0.5f, number(), number()); };
    };
    CHECK_THAT(refusal_of(with_dropout(true)),
               Catch::Contains("[group.c26] node 'attention', tensors 'seed', 'offset': found a number by value; "
                               "expected one integer in memory"));
    CHECK(refusal_of(with_dropout(false)).empty());
}

TEST_CASE("groups: all rules that a graph breaks are reported at once") {
    auto const mask = tensor_of({1, 4, 13, 13}, cudnn_frontend::DataType_t::FLOAT);
    RankPart part({}, Layout::contiguous(26, 2), 0, [&](SDPA_attributes& options) { options.set_bias(mask); });
    std::string const message = refusal(part, kLayout, {sdpa_graph::Group_way::GATHER, 3, {}});
    for (char const* id : {"[group.c04]", "[group.c05]", "[group.c11]"}) CHECK_THAT(message, Catch::Contains(id));
}
