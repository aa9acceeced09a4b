// What is masked or dropped contributes nothing, whatever the tensors hold there; what is not stays what it is.
#include "reference/session.h"
#include "support/catch.h"

#include <cmath>
#include <limits>

namespace {

using namespace sdpa_test;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
double const kNan = std::nan("");

template <class Check>
void on_both_targets(Check check) {
    for (Target const& target : {Target::reference(), Target::cpu(1), Target::cpu(3)}) {
        INFO("target: " << cudnn_frontend::to_string(target.kind()));
        check(target);
    }
}

ForwardOutputs run_forward(AttentionCase const& c, Inputs const& in, Target const& target) {
    ForwardOutputs out = make_forward_outputs(c);
    REQUIRE(Session(c, in, out).run(target).get_message() == "");
    return out;
}

BackwardOutputs run_backward(AttentionCase const& c, Inputs const& in, BackwardInputs const& more,
                             Target const& target) {
    BackwardOutputs out = make_backward_outputs(c);
    REQUIRE(Session(c, in, more, out).run(target).get_message() == "");
    return out;
}

// One query of one element over two keys.
AttentionCase two_keys() {
    AttentionCase c;
    c.s_kv = 2;
    return c;
}

Inputs inputs_of_two_keys(AttentionCase const& c, double q) {
    Inputs const in = make_inputs(c);
    in.q.set({}, q);
    in.k.set({0, 0, 0, 0}, 1.1), in.k.set({0, 0, 1, 0}, 0.0);
    in.v.set({0, 0, 0, 0}, 7.0), in.v.set({0, 0, 1, 0}, 5.0);
    return in;
}

}  // namespace

TEST_CASE("asking for Max and Sum_exp changes no other result, however large the scores are") {
    on_both_targets([](Target const& target) {
        for (double const q : {1.0, 1e6, 1e11, 3e18}) {
            CAPTURE(q);
            AttentionCase with = two_keys();
            with.logit_max = with.score_sum_exp = true;
            ForwardOutputs const plain = run_forward(two_keys(), inputs_of_two_keys(two_keys(), q), target);
            ForwardOutputs const asked = run_forward(with, inputs_of_two_keys(with, q), target);
            CHECK(same_bits(plain.o, asked.o));
            CHECK(same_bits(plain.stats, asked.stats));
            if (q == 1.0) continue;
            CHECK(asked.o.get({}) == 7.0);
            CHECK(asked.sum_exp.get({}) == 1.0);
            CHECK(asked.max.get({}) == Approx(1.1 * q));
            CHECK(asked.stats.get({}) == asked.max.get({}));
        }
    });
}

TEST_CASE("the gradient of a sink does not see rows past the lengths") {
    AttentionCase c;
    c.s_q = 2;
    c.len_q = {1}, c.len_kv = {1};
    c.sink = DataType_t::FLOAT, c.d_sink = true;
    on_both_targets([&](Target const& target) {
        for (double const past : {1.0, kInfinity, kNan}) {
            CAPTURE(past);
            Inputs const in = make_inputs(c);
            in.v.set({}, 2.0);
            in.sink.set({}, 0.0);
            BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
            auto const set_rows = [](HostTensor const& tensor, double first, double second) {
                tensor.set({0, 0, 0, 0}, first);
                tensor.set({0, 0, 1, 0}, second);
            };
            set_rows(more.o, 1.0, past);
            set_rows(more.d_o, 3.0, past);
            set_rows(more.stats, std::log(2.0), 0.0);
            CHECK(run_backward(c, in, more, target).d_sink.get({}) == Approx(-1.5));
        }
    });
}
