// Relations between runs that hold whatever the correct results are.
#include "reference/cases/random_case.h"
#include "reference/checks/check_case.h"
#include "reference/checks/training_step.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

namespace {

using namespace sdpa_test;

constexpr std::uint64_t kFirstCase = 1'000'000;  // other numbers than the sweep's

AttentionCase case_with_stats(std::uint64_t index) {
    AttentionCase c = random_case(kFirstCase + index);
    c.generate_stats = true;
    return c;
}

// Training steps of the same problem give the same bits.
void check_same(AttentionCase const& c, TrainingStep const& a, TrainingStep const& b) {
    INFO(describe(c));
    REQUIRE(a.error == "");
    REQUIRE(b.error == "");
    CHECK(same_bits(a, b));
}

Index4 rotated_head(Index4 at, std::int64_t heads) {
    at[1] = (at[1] + 1) % heads;
    return at;
}

// Head h of the copy is head h + 1 of the tensor.
void copy_rotated(HostTensor const& from, HostTensor const& to) {
    to.fill([&](Index4 const& at) { return from.get(rotated_head(at, from.dim[1])); });
}

bool is_rotated(HostTensor const& from, HostTensor const& to) {
    HostTensor const expected = make_tensor(to.type, to.dim);
    copy_rotated(from, expected);
    return same_bits(expected, to);
}

AttentionCase plain_case(std::int64_t h_q, std::int64_t h_kv) {
    AttentionCase c;
    c.seed = 31;
    c.b = 2, c.h_q = h_q, c.h_k = c.h_v = h_kv, c.s_q = 37, c.s_kv = 45, c.d_qk = 24, c.d_v = 16;
    c.scale = Scale::Number, c.scale_value = 0.2f;
    c.right = 0, c.alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    return c;
}

}  // namespace

TEST_CASE("the fused and the composite form agree with the oracle and so with each other") {
    for (std::uint64_t index = 0; index < 150; ++index) {
        for (AttentionImplementation_t form :
             {AttentionImplementation_t::UNIFIED, AttentionImplementation_t::COMPOSITE}) {
            AttentionCase c = case_with_stats(index);
            c.implementation = form;
            c.modifier = oracle::Modify::Nothing;  // has no fused form
            if (is_fp8(c.type)) continue;          // it has none either
            INFO(describe(c));
            CHECK(check_case(c, Target::cpu()) == "");
        }
    }
}

TEST_CASE("the number of threads does not show in the bits") {
    for (std::uint64_t index = 200; index < 260; ++index) {
        AttentionCase const c = case_with_stats(index);
        check_same(c, training_step(c, Target::cpu(1)), training_step(c, Target::cpu(2)));
        check_same(c, training_step(c, Target::cpu(1)), training_step(c, Target::cpu(7)));
    }
}

TEST_CASE("a graph that was written to JSON and read back gives the same bits") {
    for (std::uint64_t index = 400; index < 500; ++index) {
        AttentionCase const c = case_with_stats(index);
        check_same(c, training_step(c, Target::cpu(1)), restored_training_step(c, Target::cpu(1)));
    }
}

TEST_CASE("building twice and executing twice gives the same bits") {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        for (std::uint64_t index = 300; index < 330; ++index) {
            AttentionCase const c = case_with_stats(index);
            Inputs const in = make_inputs(c);
            ForwardOutputs const first = make_forward_outputs(c), second = make_forward_outputs(c);
            REQUIRE(Session(c, in, first).run(target).get_message() == "");
            Session session(c, in, second);
            REQUIRE(session.run(target).get_message() == "");
            REQUIRE(session.execute().get_message() == "");
            REQUIRE(session.run(target).get_message() == "");
            INFO(describe(c));
            CHECK(same_bits(first.o, second.o));
            CHECK(same_bits(first.stats, second.stats));
        }
    }
}

TEST_CASE("the first strides of packed tensors, which may overlap, do not show in the bits") {
    AttentionCase c = plain_case(4, 2);
    c.len_q = {37, 5}, c.len_kv = {12, 45};
    c.input_layout = c.output_layout = Layout::Ragged;
    Inputs const in = make_inputs(c);
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        ForwardOutputs const first = make_forward_outputs(c), second = make_forward_outputs(c);
        REQUIRE(Session(c, in, first).run(target).get_message() == "");
        Session session(c, in, second);
        for (Session::Entry const& entry : session.entries()) {
            if (!entry.memory.offsets) continue;
            auto stride = entry.tensor->get_stride();
            stride[0] = stride[2];
            entry.tensor->set_stride(stride);
        }
        REQUIRE(session.run(target).get_message() == "");
        CHECK(same_bits(first.o, second.o));
        CHECK(same_bits(first.stats, second.stats));
    }
}

TEST_CASE("one graph moves from target to target") {
    AttentionCase const c = plain_case(4, 2);
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c), reference = make_forward_outputs(c),
                         cpu = make_forward_outputs(c);
    REQUIRE(Session(c, in, reference).run(Target::reference()).get_message() == "");
    REQUIRE(Session(c, in, cpu).run(Target::cpu()).get_message() == "");
    Session session(c, in, out);
    REQUIRE(session.run(Target::cpu()).get_message() == "");
    CHECK(same_bits(out.o, cpu.o));
    REQUIRE(session.run(Target::reference()).get_message() == "");
    CHECK(same_bits(out.o, reference.o));
}

TEST_CASE("a built graph runs from eight threads at once") {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        AttentionCase const c = plain_case(4, 2);
        Inputs const in = make_inputs(c);
        ForwardOutputs const expected = make_forward_outputs(c);
        Session session(c, in, expected);
        REQUIRE(session.run(target).get_message() == "");

        std::vector<ForwardOutputs> outputs;
        for (int n = 0; n < 8; ++n) outputs.push_back(make_forward_outputs(c));
        std::vector<std::string> errors(outputs.size());
        std::vector<std::thread> threads;
        for (std::size_t n = 0; n < outputs.size(); ++n) {
            threads.emplace_back([&, n] {
                auto pack = session.pack_by_uid();
                pack[session.tensor_of(expected.o)->get_uid()] = outputs[n].o.data();
                pack[session.tensor_of(expected.stats)->get_uid()] = outputs[n].stats.data();
                for (int repeat = 0; repeat < 10; ++repeat) {
                    HostMemory const workspace(session.graph().get_workspace_size());
                    errors[n] += session.graph().execute(pack, workspace.data(), workspace.size()).get_message();
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        for (std::size_t n = 0; n < outputs.size(); ++n) {
            CHECK(errors[n] == "");
            CHECK(same_bits(outputs[n].o, expected.o));
            CHECK(same_bits(outputs[n].stats, expected.stats));
        }
    }
}

TEST_CASE("a sink of minus infinity changes no bit, and has a gradient of 0") {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        AttentionCase const without = plain_case(4, 2);
        AttentionCase with = without;
        with.sink = DataType_t::FLOAT, with.d_sink = true;
        with.sink_shift = -std::numeric_limits<double>::infinity();
        TrainingStep const a = training_step(without, target), b = training_step(with, target);
        REQUIRE(b.error == "");
        CHECK(same_bits(a.forward.o, b.forward.o));
        CHECK(same_bits(a.forward.stats, b.forward.stats));
        CHECK(same_bits(a.backward.d_q, b.backward.d_q));
        CHECK(same_bits(a.backward.d_k, b.backward.d_k));
        CHECK(same_bits(a.backward.d_v, b.backward.d_v));
        for_each_index(b.backward.d_sink.dim, [&](Index4 const& at) { CHECK(b.backward.d_sink.get(at) == 0.0); });
    }
}

TEST_CASE("Max and Sum_exp merge the results over two parts of the keys") {
    AttentionCase whole = plain_case(2, 2);
    whole.right.reset();
    AttentionCase part = whole;
    part.s_kv = 9, part.generate_stats = false, part.logit_max = part.score_sum_exp = true;
    whole.s_kv = 2 * part.s_kv;
    Inputs const in = make_inputs(whole);
    ForwardOutputs const all = make_forward_outputs(whole);
    REQUIRE(Session(whole, in, all).run(Target::cpu()).get_message() == "");
    std::vector<ForwardOutputs> parts;
    for (std::int64_t const first : {std::int64_t{0}, part.s_kv}) {
        Inputs some = make_inputs(part);
        auto const in_whole = [=](Index4 at) { return Index4{at[0], at[1], at[2] + first, at[3]}; };
        some.q = in.q;
        some.k.fill([&](Index4 const& at) { return in.k.get(in_whole(at)); });
        some.v.fill([&](Index4 const& at) { return in.v.get(in_whole(at)); });
        parts.push_back(make_forward_outputs(part));
        REQUIRE(Session(part, some, parts.back()).run(Target::cpu()).get_message() == "");
    }
    for_each_index(all.o.dim, [&](Index4 const& at) {
        Index4 const row{at[0], at[1], at[2], 0};
        double const max = std::max(parts[0].max.get(row), parts[1].max.get(row));
        double o = 0.0, sum = 0.0;
        for (ForwardOutputs const& out : parts) {
            double const weight = out.sum_exp.get(row) * std::exp(out.max.get(row) - max);
            o += weight * out.o.get(at), sum += weight;
        }
        CHECK(std::abs(o / sum - all.o.get(at)) < 1e-5);
    });
}

TEST_CASE("permuting the heads permutes the results") {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        AttentionCase const c = plain_case(3, 3);
        Inputs const in = make_inputs(c), rotated = make_inputs(c);
        copy_rotated(in.q, rotated.q);
        copy_rotated(in.k, rotated.k);
        copy_rotated(in.v, rotated.v);
        ForwardOutputs const a = make_forward_outputs(c), b = make_forward_outputs(c);
        REQUIRE(Session(c, in, a).run(target).get_message() == "");
        REQUIRE(Session(c, rotated, b).run(target).get_message() == "");
        CHECK(is_rotated(a.o, b.o));
        CHECK(is_rotated(a.stats, b.stats));

        oracle::Forward const forward{to_array(a.o), to_array(a.stats)};
        BackwardInputs const more = make_backward_inputs(c, forward), more_rotated = make_backward_inputs(c, forward);
        copy_rotated(more.o, more_rotated.o);
        copy_rotated(more.stats, more_rotated.stats);
        copy_rotated(more.d_o, more_rotated.d_o);
        BackwardOutputs const x = make_backward_outputs(c), y = make_backward_outputs(c);
        REQUIRE(Session(c, in, more, x).run(target).get_message() == "");
        REQUIRE(Session(c, rotated, more_rotated, y).run(target).get_message() == "");
        CHECK(is_rotated(x.d_q, y.d_q));
        CHECK(is_rotated(x.d_k, y.d_k));
        CHECK(is_rotated(x.d_v, y.d_v));
    }
}

TEST_CASE("shared K and V heads are repeated ones and their gradients the sums") {
    for (Target const& target : {Target::reference(), Target::cpu()}) {
        AttentionCase const shared = plain_case(6, 2), repeated = plain_case(6, 6);
        constexpr std::int64_t kGroup = 3;
        auto const head_of = [](Index4 at) {
            at[1] /= kGroup;
            return at;
        };
        Inputs const in = make_inputs(shared), wide = make_inputs(repeated);
        wide.q.fill([&](Index4 const& at) { return in.q.get(at); });
        wide.k.fill([&](Index4 const& at) { return in.k.get(head_of(at)); });
        wide.v.fill([&](Index4 const& at) { return in.v.get(head_of(at)); });
        TrainingStep const a = training_step(shared, in, target), b = training_step(repeated, wide, target);
        REQUIRE(a.error == "");
        REQUIRE(b.error == "");
        auto const summed = [&](HostTensor const& gradient) {
            return make_tensor(gradient.type, {gradient.dim[0], 2, gradient.dim[2], gradient.dim[3]})
                .fill([&](Index4 at) {
                    double sum = 0.0;
                    at[1] *= kGroup;
                    for (std::int64_t n = 0; n < kGroup; ++n, ++at[1]) sum += gradient.get(at);
                    return sum;
                });
        };
        // Both results may err, so that the bound is twice that of each.
        oracle::Problem const problem = to_problem(shared, in, {});
        oracle::Array const o = to_array(a.forward.o), stats = to_array(a.forward.stats);
        oracle::Array const d_o = to_array(make_backward_inputs(shared, {o, stats}).d_o);
        oracle::Precision const precision{oracle::Precision::kSingle, shared.result_type, shared.bias_type};
        oracle::Forward forward = oracle::allowed_error(problem, oracle::forward(problem), precision);
        oracle::Backward backward =
            oracle::allowed_error(problem, o, stats, d_o, oracle::backward(problem, o, stats, d_o), precision);
        for (oracle::Array* array : {&forward.o, &forward.stats, &backward.d_q, &backward.d_k, &backward.d_v}) {
            for (double& value : array->values) value *= 2.0;
        }
        CHECK(first_difference("O", b.forward.o, o, forward.o) == "");
        CHECK(first_difference("stats", b.forward.stats, stats, forward.stats) == "");
        CHECK(first_difference("dQ", b.backward.d_q, to_array(a.backward.d_q), backward.d_q) == "");
        CHECK(first_difference("dK", summed(b.backward.d_k), to_array(a.backward.d_k), backward.d_k) == "");
        CHECK(first_difference("dV", summed(b.backward.d_v), to_array(a.backward.d_v), backward.d_v) == "");
    }
}

TEST_CASE("heads with columns of zeros give what the heads without them give, and zeros there") {
    AttentionCase plain = plain_case(4, 2), padded = plain;
    plain.d_qk = plain.d_v = 20;
    padded.d_qk = padded.d_v = 24, padded.zero_columns = 4;
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        TrainingStep const a = training_step(plain, target), b = training_step(padded, target);
        REQUIRE(a.error == "");
        REQUIRE(b.error == "");
        for (auto const& [narrow, wide] : {std::pair{a.forward.o, b.forward.o},
                                           {a.backward.d_q, b.backward.d_q},
                                           {a.backward.d_k, b.backward.d_k},
                                           {a.backward.d_v, b.backward.d_v}}) {
            for_each_index(wide.dim, [&](Index4 const& at) {
                double const wanted = at[3] < 20 ? narrow.get(at) : 0.0;
                CHECK(std::abs(wide.get(at) - wanted) < 1e-6);
            });
        }
        CHECK(largest_difference(a.forward.stats, b.forward.stats) < 1e-6);
    }
}
