// Masked and dropped elements contribute nothing, whatever the tensors hold there; other results are unchanged.
#include "reference/checks/session.h"
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

// One query with two keys, and a head dim of 1.
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

void set_row(HostTensor const& tensor, std::int64_t row, double value) {
    for_each_index(tensor.dim, [&](Index4 const& at) {
        if (at[2] == row) tensor.set(at, value);
    });
}

// Whether exactly those rows have numbers that are not finite.
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

bool is_last(std::int64_t row) { return row == 127; }
bool is_first(std::int64_t row) { return row == 0; }
bool is_none(std::int64_t) { return false; }

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

TEST_CASE("the largest score has all of the weight, however large the scale is") {
    on_both_targets([](Target const& target) {
        for (DataType_t const type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16}) {
            for (float const scale : {1e6f, 1e11f, 3e18f}) {
                CAPTURE(type, scale);
                AttentionCase c;
                c.s_q = c.s_kv = 40, c.d_qk = c.d_v = 16;
                c.type = c.result_type = type;
                c.scale = Scale::Number;
                c.scale_value = scale;
                Inputs const in = make_inputs(c);
                set_row(in.q, 0, 1.3);
                for (std::int64_t key = 0; key < c.s_kv; ++key) set_row(in.k, key, key == 7 ? 1.1 : 0.0);
                ForwardOutputs const out = run_forward(c, in, target);
                CHECK(out.o.get({}) == in.v.get({0, 0, 7, 0}));
            }
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

TEST_CASE("a value that a query does not see does not reach its row of O") {
    on_both_targets([](Target const& target) {
        for (double const wild : {kNan, kInfinity}) {
            AttentionCase c = causal_case();
            Inputs const in = make_inputs(c);
            set_row(in.v, 127, wild);
            check_finite_but("O", run_forward(c, in, target).o, is_last);
        }
    });
}

TEST_CASE("a row that is masked whole is 0, whatever the values are") {
    AttentionCase c = causal_case();
    c.alignment = cudnn_frontend::DiagonalAlignment_t::BOTTOM_RIGHT;
    c.s_kv = 100;  // no key is visible to queries 0 to 27
    on_both_targets([&](Target const& target) {
        Inputs const in = make_inputs(c);
        in.v.fill([](Index4 const&) { return kNan; });
        HostTensor const o = run_forward(c, in, target).o;
        check_finite_but("O", o, [](std::int64_t row) { return row >= 28; });
        CHECK(o.get({0, 1, 27, 3}) == 0.0);
    });
}

TEST_CASE("what a dropout mask drops does not reach O, nor the gradient of what is kept") {
    AttentionCase c = causal_case();
    c.dropout = Dropout::Mask, c.mask = Index4{1, 1, 1, 128};
    on_both_targets([&](Target const& target) {
        Inputs const in = make_inputs(c);
        in.mask.fill([](Index4 const& at) { return at[3] == 5 ? 0.0 : 1.0; });
        set_row(in.v, 5, kNan);
        check_finite_but("O", run_forward(c, in, target).o, is_none);
        BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
        BackwardOutputs const out = run_backward(c, in, more, target);
        check_finite_but("dQ", out.d_q, is_none);
        check_finite_but("dK", out.d_k, is_none);
        check_finite_but("dV", out.d_v, is_none);
    });
}

TEST_CASE("what a query does not see does not reach its gradient, nor it the gradient of what it does not see") {
    AttentionCase const c = causal_case();
    Inputs const good = make_inputs(c);
    oracle::Forward const forward = oracle::forward(to_problem(c, good, {}));
    on_both_targets([&](Target const& target) {
        for (double const wild : {kNan, kInfinity}) {
            CAPTURE(wild);
            auto const gradients = [&](auto const& spoil) {
                Inputs const in = make_inputs(c);
                BackwardInputs const more = make_backward_inputs(c, forward);
                spoil(in, more);
                return run_backward(c, in, more, target);
            };
            BackwardOutputs const of_value = gradients([&](auto& in, auto&) { set_row(in.v, 127, wild); });
            check_finite_but("dQ with a wild value", of_value.d_q, is_last);
            check_finite_but("dK with a wild value", of_value.d_k, is_last);
            check_finite_but("dV with a wild value", of_value.d_v, is_none);
            BackwardOutputs const of_key = gradients([&](auto& in, auto&) { set_row(in.k, 127, kNan); });
            check_finite_but("dQ with a wild key", of_key.d_q, is_last);
            check_finite_but("dV with a wild key", of_key.d_v, is_last);
            BackwardOutputs const of_query = gradients([&](auto& in, auto&) { set_row(in.q, 0, kNan); });
            check_finite_but("dK with a wild query", of_query.d_k, is_first);
            check_finite_but("dQ with a wild query", of_query.d_q, is_first);
            BackwardOutputs const of_d_o = gradients([&](auto&, auto& more) { set_row(more.d_o, 0, wild); });
            check_finite_but("dQ with a wild dO", of_d_o.d_q, is_first);
            check_finite_but("dK with a wild dO", of_d_o.d_k, is_first);
            check_finite_but("dV with a wild dO", of_d_o.d_v, is_first);
        }
    });
}

TEST_CASE("gradients follow from the dropout mask's scale alone, and of a scale of 0 they are 0") {
    AttentionCase c = causal_case();
    c.dropout = Dropout::Mask, c.mask = Index4{1, 2, 128, 128}, c.dropout_probability = 0.25f;
    on_both_targets([&](Target const& target) {
        Inputs const in = make_inputs(c);
        BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
        BackwardOutputs const wanted = run_backward(c, in, more, target);
        in.mask_scale_inv.set({}, kNan);
        BackwardOutputs const got = run_backward(c, in, more, target);
        CHECK(same_bits(got.d_q, wanted.d_q));
        CHECK(same_bits(got.d_k, wanted.d_k));
        in.mask_scale.set({}, 0.0);
        in.mask_scale_inv.set({}, kInfinity);
        more.o.fill([](Index4 const&) { return 0.0; });  // as forward returns it then
        BackwardOutputs const none = run_backward(c, in, more, target);
        for (HostTensor const& gradient : {none.d_q, none.d_k, none.d_v}) {
            std::int64_t wrong = 0;
            for_each_index(gradient.dim, [&](Index4 const& at) { wrong += gradient.get(at) != 0.0; });
            CHECK(wrong == 0);
        }
    });
}

// Whether the rows from one on, up to another, have the same numbers.
static bool same_rows(HostTensor const& a, HostTensor const& b, std::int64_t begin, std::int64_t end) {
    bool are_same = true;
    for_each_index(a.dim, [&](Index4 const& at) {
        if (at[2] >= begin && at[2] < end && a.get(at) != b.get(at)) are_same = false;
    });
    return are_same;
}

TEST_CASE("an infinity changes no bit of results that do not depend on it, for any type and number of threads") {
    for (DataType_t const type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16}) {
        CAPTURE(static_cast<int>(type));
        AttentionCase c = causal_case();
        c.type = c.result_type = type;
        c.s_q = c.s_kv = 301;
        constexpr std::int64_t kRow = 201;
        Inputs const in = make_inputs(c), wild = make_inputs(c);
        BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
        BackwardInputs const wild_more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
        wild.v.set({0, 0, kRow, 2}, kInfinity);         // seen by queries from that row on
        wild_more.d_o.set({0, 0, kRow, 2}, kInfinity);  // of keys up to that row
        for (Target const& target : {Target::cpu(1), Target::cpu(2), Target::cpu(5)}) {
            ForwardOutputs const plain = run_forward(c, in, target), changed = run_forward(c, wild, target);
            CHECK(same_rows(plain.o, changed.o, 0, kRow));
            CHECK_FALSE(same_rows(plain.o, changed.o, kRow, c.s_q));
            BackwardOutputs const gradients = run_backward(c, in, more, target);
            BackwardOutputs const others = run_backward(c, in, wild_more, target);
            CHECK(same_rows(gradients.d_q, others.d_q, 0, kRow));
            CHECK(same_rows(gradients.d_q, others.d_q, kRow + 1, c.s_q));
            CHECK(same_rows(gradients.d_k, others.d_k, kRow + 1, c.s_kv));
            CHECK(same_rows(gradients.d_v, others.d_v, kRow + 1, c.s_kv));
        }
    }
}
