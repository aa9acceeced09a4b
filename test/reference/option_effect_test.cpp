// Switching any option off changes the results, so that no option is ignored by a target.
#include "reference/cases/option_table.h"
#include "reference/checks/training_step.h"
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <utility>

namespace {

using namespace sdpa_test;

void check_effect(Option const& option, Target const& target) {
    AttentionCase off = small_case();
    option.base(off);
    AttentionCase on = off;
    option.change(on);
    TrainingStep const a = training_step(off, target), b = training_step(on, target);
    REQUIRE(a.error == "");
    REQUIRE(b.error == "");
    CHECK(largest_difference(a.forward.o, b.forward.o) >= option.at_least);
    CHECK(largest_difference(a.backward.d_q, b.backward.d_q) >= option.at_least);
    CHECK(largest_difference(a.backward.d_k, b.backward.d_k) >= option.at_least);
    CHECK(largest_difference(a.backward.d_v, b.backward.d_v) >= option.at_least);
    double const stats = largest_difference(a.forward.stats, b.forward.stats);
    if (option.changes_stats) CHECK(stats >= option.at_least);
    else CHECK(stats == 0.0);
}

void check_all(Target const& target) {
    for (Option const& option : all_options()) {
        INFO(option.name);
        check_effect(option, target);
    }
}

}  // namespace

TEST_CASE("each option changes the answer of the reference target") { check_all(Target::reference()); }
TEST_CASE("each option changes the answer of the cpu target") { check_all(Target::cpu(1)); }

TEST_CASE("without generate_stats there is no stats tensor and O is the same") {
    AttentionCase with = small_case(), without = with;
    without.generate_stats = false;
    Graph graph;
    auto const tensor = [&] { return graph.tensor(cudnn_frontend::graph::Tensor_attributes()); };
    CHECK(graph.sdpa(tensor(), tensor(), tensor(), cudnn_frontend::graph::SDPA_attributes())[1] == nullptr);
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        ForwardOutputs const a = make_forward_outputs(with), b = make_forward_outputs(without);
        REQUIRE(Session(with, make_inputs(with), a).run(target).get_message() == "");
        REQUIRE(Session(without, make_inputs(without), b).run(target).get_message() == "");
        CHECK(same_bits(a.o, b.o));
    }
}

TEST_CASE("without set_dsink_token the other gradients are the same") {
    AttentionCase with = small_case();
    with.sink = DataType_t::FLOAT, with.d_sink = true;
    AttentionCase without = with;
    without.d_sink = false;
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        TrainingStep const a = training_step(with, target), b = training_step(without, target);
        REQUIRE(a.error == "");
        REQUIRE(b.error == "");
        CHECK(same_bits(a.backward.d_q, b.backward.d_q));
        CHECK(same_bits(a.backward.d_k, b.backward.d_k));
        CHECK(same_bits(a.backward.d_v, b.backward.d_v));
    }
}

TEST_CASE("Max and Sum_exp together are Stats, and asking for them changes no probability") {
    AttentionCase with = small_case();
    with.logit_max = with.score_sum_exp = true;
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        TrainingStep const step = training_step(with, target), plain = training_step(small_case(), target);
        REQUIRE(step.error == "");
        for_each_index(step.forward.stats.dim, [&](Index4 const& at) {
            double const stats = step.forward.max.get(at) + std::log(step.forward.sum_exp.get(at));
            CHECK(std::abs(step.forward.stats.get(at) - stats) < 1e-6);
        });
        CHECK(largest_difference(step.forward.o, plain.forward.o) < 1e-6);
    }
}

TEST_CASE("without set_dbias and set_rng_dump the other outputs are the same") {
    AttentionCase with = small_case();
    with.bias = Index4{2, 4, 5, 7}, with.d_bias = true;
    with.dropout = Dropout::Probability, with.dropout_probability = 0.3f, with.rng_dump = true;
    AttentionCase without = with;
    without.d_bias = without.rng_dump = false;
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        TrainingStep const a = training_step(with, target), b = training_step(without, target);
        REQUIRE(a.error == "");
        REQUIRE(b.error == "");
        CHECK(same_bits(a.forward.o, b.forward.o));
        CHECK(same_bits(a.backward.d_q, b.backward.d_q));
        CHECK(same_bits(a.backward.d_k, b.backward.d_k));
        CHECK(same_bits(a.backward.d_v, b.backward.d_v));
    }
}

namespace {

// A case in which some keys are past the lengths.
AttentionCase padded_case() {
    AttentionCase c = small_case();
    c.len_q = {5, 3}, c.len_kv = {7, 4};
    return c;
}

HostTensor output_of(AttentionCase const& c, Inputs const& in, Target const& target) {
    ForwardOutputs const out = make_forward_outputs(c);
    REQUIRE(Session(c, in, out).run(target).get_message() == "");
    return out.o;
}

}  // namespace

TEST_CASE("each bit of a block mask is about its tile of scores and no other") {
    AttentionCase c = small_case();
    c.b = 1, c.h_q = c.h_k = c.h_v = 2, c.s_q = 260, c.s_kv = 1200, c.d_qk = c.d_v = 2;
    c.generate_stats = false, c.block_mask = true;
    Inputs const in = make_inputs(c);
    in.block_mask.fill([](Index4 const&) { return 255.0; });
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        HostTensor const all = output_of(c, in, target);
        for (auto const& [tile_of_rows, tile_of_keys] : {std::pair(0, 0), {1, 7}, {2, 8}, {0, 9}}) {
            Index4 const byte{0, 1, tile_of_rows, tile_of_keys / 8};
            in.block_mask.set(byte, 255 - (1 << tile_of_keys % 8));
            HostTensor const without = output_of(c, in, target);
            in.block_mask.set(byte, 255.0);
            for_each_index(all.dim, [&](Index4 const& at) {
                bool const is_of_tile = at[1] == 1 && at[2] / 128 == tile_of_rows;
                CHECK((all.get(at) != without.get(at)) == is_of_tile);
            });
        }
    }
}

TEST_CASE("a block mask gives what the same mask gives as a bias") {
    AttentionCase masked = small_case();
    masked.s_q = 200, masked.s_kv = 300, masked.block_mask = true;
    AttentionCase biased = masked;
    biased.block_mask = false, biased.bias = Index4{2, 4, 200, 300};
    Inputs const in = make_inputs(masked);
    Inputs whole = in;
    whole.block_mask = {};
    oracle::Problem const problem = to_problem(masked, in, {});
    Inputs const of_bias = make_inputs(biased);
    of_bias.bias.fill([&](Index4 const& at) {
        return problem.keeps_tile(at[0], at[1], at[2], at[3]) ? 0.0 : -std::numeric_limits<double>::infinity();
    });
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        HostTensor const a = output_of(masked, in, target), b = output_of(biased, of_bias, target);
        CHECK(largest_difference(a, b) == 0.0);
        CHECK(largest_difference(a, output_of(masked, whole, target)) > 0.1);
    }
}

TEST_CASE("pages give what dense keys and values give, bit by bit") {
    AttentionCase const dense = padded_case();
    AttentionCase paged = dense;
    paged.paging = {.k_rows = 2, .v_rows = 4};
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        CHECK(same_bits(output_of(dense, make_inputs(dense), target), output_of(paged, make_inputs(paged), target)));
    }
}

TEST_CASE("each entry of a page table, and the number of keys, changes the answer") {
    AttentionCase c = padded_case();
    c.len_kv = {8, 8}, c.s_kv = 8;
    c.paging = {.k_rows = 2, .v_rows = 2};
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        Inputs const in = make_inputs(c);
        HostTensor const right = output_of(c, in, target);
        for (HostTensor const& tensor : {in.k, in.v}) {
            for (std::int64_t row = 0; row < 4; ++row) {
                Index4 const at{1, 0, row, 0}, of_other{0, 0, row, 0};
                double const page = tensor.table->get(at);
                tensor.table->set(at, tensor.table->get(of_other));
                CHECK(largest_difference(right, output_of(c, in, target)) > 0.01);
                tensor.table->set(at, page);
            }
        }
        CHECK(same_bits(right, output_of(c, in, target)));
    }
}

TEST_CASE("Stats in base 2 are natural ones over ln 2, and backward that is told so gives the same gradients") {
    AttentionCase natural = padded_case();
    natural.sink = DataType_t::FLOAT, natural.d_sink = true;
    AttentionCase in_base_2 = natural;
    in_base_2.stats_use_log2 = true;
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        TrainingStep const a = training_step(natural, target), b = training_step(in_base_2, target);
        REQUIRE(a.error == "");
        REQUIRE(b.error == "");
        CHECK(same_bits(a.forward.o, b.forward.o));
        for_each_index(a.forward.stats.dim, [&](Index4 const& at) {
            double const stats = a.forward.stats.get(at);
            CHECK(std::abs(b.forward.stats.get(at) * std::log(2.0) - stats) <= 1e-6 * std::abs(stats));
        });
        for (auto const gradient :
             {&BackwardOutputs::d_q, &BackwardOutputs::d_k, &BackwardOutputs::d_v, &BackwardOutputs::d_sink}) {
            CHECK(largest_difference(a.backward.*gradient, b.backward.*gradient) <= 1e-5);
        }
        CHECK(same_bits(restored_training_step(in_base_2, target), b));
    }
}

TEST_CASE("backward that is not told of base 2 gives other gradients") {
    AttentionCase const natural = small_case();
    AttentionCase in_base_2 = natural;
    in_base_2.stats_use_log2 = true;
    Inputs const in = make_inputs(natural);
    BackwardInputs const more = make_backward_inputs(in_base_2, oracle::forward(to_problem(natural, in, {})));
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        BackwardOutputs const told = make_backward_outputs(natural), untold = make_backward_outputs(natural);
        REQUIRE(Session(in_base_2, in, more, told).run(target).get_message() == "");
        REQUIRE(Session(natural, in, more, untold).run(target).get_message() == "");
        CHECK(largest_difference(told.d_q, untold.d_q) > 0.1);
        CHECK(largest_difference(told.d_v, untold.d_v) > 0.1);
    }
}

TEST_CASE("dBias is the gradient of each score summed over the dims in which it has 1, whatever the bias's are") {
    AttentionCase c = small_case();
    c.bias = Index4{1, 4, 1, 7}, c.d_bias = true;
    auto const d_bias = [&](Index4 const& dim, Target const& target) {
        c.d_bias_dim = dim;
        TrainingStep const step = training_step(c, target);
        REQUIRE(step.error == "");
        return to_array(step.backward.d_bias);
    };
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        oracle::Array const whole = d_bias({2, 4, 5, 7}, target);
        for (Index4 const& dim :
             {Index4{1, 4, 1, 7}, {1, 4, 5, 7}, {2, 1, 5, 7}, {1, 1, 5, 7}, {2, 4, 5, 1}, {1, 1, 1, 1}}) {
            oracle::Array sum(dim[0], dim[1], dim[2], dim[3]);
            oracle::Array const found = d_bias(dim, target);
            for_each_index({2, 4, 5, 7}, [&](Index4 const& at) {
                sum.at(at[0], at[1], at[2], at[3]) += whole.at(at[0], at[1], at[2], at[3]);
            });
            REQUIRE(found.dim == dim);
            for (std::size_t i = 0; i < sum.values.size(); ++i) CHECK(std::abs(sum.values[i] - found.values[i]) < 1e-5);
        }
    }
}

TEST_CASE("a dropout mask given in its scale's place gives the same bits as in its own") {
    AttentionCase in_order = small_case();
    in_order.dropout = Dropout::Mask, in_order.dropout_probability = 0.4f, in_order.mask = Index4{2, 4, 5, 7};
    AttentionCase exchanged = in_order;
    exchanged.exchanged_mask = true;
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        TrainingStep const a = training_step(in_order, target), b = training_step(exchanged, target);
        REQUIRE(b.error == "");
        CHECK(same_bits(a, b));
        CHECK(same_bits(restored_training_step(exchanged, target), b));
    }
}
