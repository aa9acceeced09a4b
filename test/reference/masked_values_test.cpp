// What is masked or dropped contributes nothing, whatever the tensors hold there; what is not stays what it is.
#include "reference/session.h"
#include "support/catch.h"

#include <cmath>
#include <functional>
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

// 128 queries and keys under a causal mask.
AttentionCase causal_case() {
    AttentionCase c;
    c.seed = 8;
    c.h_q = 2, c.h_k = c.h_v = 1, c.s_q = c.s_kv = 128, c.d_qk = 8, c.d_v = 4;
    c.right = 0;
    return c;
}

// Whether exactly those rows hold a number that is not finite.
void check_finite_but(char const* name, HostTensor const& tensor,
                      std::function<bool(std::int64_t row)> const& is_wild) {
    INFO(name);
    std::int64_t wrong = 0;
    for (std::int64_t row = 0; row < tensor.dim[2]; ++row) {
        bool is_finite = true;
        for_each_index(tensor.dim, [&](Index4 const& at) {
            if (at[2] == row && !std::isfinite(tensor.get(at))) is_finite = false;
        });
        if (is_finite == is_wild(row)) ++wrong;
    }
    CHECK(wrong == 0);
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

TEST_CASE("Max is NaN where a score is NaN, in whatever order the scores come") {
    AttentionCase c = causal_case();
    c.logit_max = c.score_sum_exp = true;
    on_both_targets([&](Target const& target) {
        for (std::int64_t const row : {std::int64_t{0}, std::int64_t{63}, std::int64_t{64}, std::int64_t{90}}) {
            CAPTURE(row);
            Inputs const in = make_inputs(c);
            in.k.set({0, 0, row, 3}, kNan);
            ForwardOutputs const out = run_forward(c, in, target);
            auto const sees_it = [&](std::int64_t query) { return query >= row; };
            check_finite_but("Max", out.max, sees_it);
            check_finite_but("Sum_exp", out.sum_exp, sees_it);
            check_finite_but("Stats", out.stats, sees_it);
            check_finite_but("O", out.o, sees_it);
            CHECK(std::isnan(out.max.get({0, 1, row, 0})));
        }
    });
}
