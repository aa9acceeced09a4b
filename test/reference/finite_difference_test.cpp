// The library's gradients against central differences of the oracle's forward pass, each option in turn.
#include "reference/checks/finite_difference.h"
#include "reference/cases/option_table.h"
#include "reference/checks/check_case.h"
#include "reference/checks/training_step.h"
#include "support/catch.h"

namespace {

using namespace sdpa_test;

// The sum of the gradients' own rounding error and that of the differences.
oracle::Backward allowed(AttentionCase const& c, oracle::Problem const& problem, oracle::Array const& d_o,
                         Target const& target) {
    oracle::Forward const exact = oracle::forward(problem);
    oracle::Backward const gradient = oracle::backward(problem, exact.o, exact.stats, d_o);
    // O and stats reach the backward pass rounded to single precision, on every target.
    oracle::Precision precision = precision_of(c, Rig(target));
    precision.unit = oracle::Precision::kSingle;
    oracle::Backward result = oracle::allowed_error(problem, exact.o, exact.stats, d_o, gradient, precision);
    for (oracle::Array* array : {&result.d_q, &result.d_k, &result.d_v, &result.d_bias, &result.d_sink}) {
        for (double& value : array->values) value += oracle::kDifferenceError;
    }
    return result;
}

void check_gradients(AttentionCase const& c, Target const& target) {
    Inputs const in = make_inputs(c);
    TrainingStep const step = training_step(c, in, target);
    REQUIRE(step.error == "");
    oracle::Problem const problem = to_problem(c, in, step.forward.rng_dump);
    oracle::Array const d_o = to_array(make_backward_inputs(c, oracle::forward(problem)).d_o);
    oracle::Backward const numeric = oracle::central_differences(problem, d_o);
    oracle::Backward const bound = allowed(c, problem, d_o, target);
    CHECK(first_difference("dQ", step.backward.d_q, numeric.d_q, bound.d_q) == "");
    CHECK(first_difference("dK", step.backward.d_k, numeric.d_k, bound.d_k) == "");
    CHECK(first_difference("dV", step.backward.d_v, numeric.d_v, bound.d_v) == "");
    if (c.d_bias) CHECK(first_difference("dBias", step.backward.d_bias, numeric.d_bias, bound.d_bias) == "");
    if (c.d_sink) CHECK(first_difference("dSink", step.backward.d_sink, numeric.d_sink, bound.d_sink) == "");
}

void check_all(Target const& target) {
    check_gradients(small_case(), target);
    for (Option const& option : all_options()) {
        AttentionCase c = small_case();
        option.base(c);
        option.change(c);
        INFO(option.name);
        check_gradients(c, target);
    }
}

}  // namespace

TEST_CASE("gradients of the reference target agree with finite differences") { check_all(Target::reference()); }
TEST_CASE("gradients of the cpu target agree with finite differences") { check_all(Target::cpu()); }
