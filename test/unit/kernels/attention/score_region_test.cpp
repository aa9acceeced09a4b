// Numbers of score modifiers whose factor and addend are applied later than the modifier says.
#include "unit/kernels/host/cuda_words.h"
#include "unit/kernels/host/host_async.h"
#include "unit/kernels/host/host_threads.h"

#include <attention/score_region.cuh>

#include "support/catch.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace {

using sdpa_test::Random;

// A chain of random steps with uniform numbers, in the kernels' way and in double.
struct Chain {
    Linear linear;
    double number, magnitude;  // the second: the largest number on the way

    void step(Random& random) {
        float const by = static_cast<float>(random.real(0.25, 4.0));
        switch (random.between(0, 4)) {
            case 0: apply(linear * Uniform{by}, number * by); break;
            case 1: apply(linear * inverse_of(Uniform{by}), number / by); break;
            case 2: apply(Uniform{by} + linear, number + by); break;
            case 3: apply(linear - Uniform{by}, number - by); break;
            default: apply(-linear, -number); break;
        }
    }
    void apply(Linear made, double exact) {
        linear = made;
        number = exact;
        magnitude = std::max({magnitude * 4.0, std::abs(exact), 4.0});
    }
};

}  // namespace

TEST_CASE("uniform factors and addends of a chain of steps end in one instruction") {
    for (unsigned seed = 0; seed < 2000; ++seed) {
        Random random(seed);
        auto const product = static_cast<float>(random.real(-8.0, 8.0)),
                   scale = static_cast<float>(random.real(0.05, 1.0));
        Chain chain{{product, scale, 0.0f}, double(product) * double(scale), 8.0};
        for (int i = 0; i < 4; ++i) chain.step(random);
        INFO("seed " << seed);
        REQUIRE(std::abs(float(chain.linear) - chain.number) <= 1e-6 * chain.magnitude);
        REQUIRE(std::abs(power_of(chain.linear, 0.5f) - (chain.number * 1.4426950408889634 + 0.5)) <=
                2e-6 * chain.magnitude);
        double const exact = std::tanh(chain.number);
        REQUIRE(std::abs(float(tanh_of(chain.linear)) - exact) <= 1e-6 * (1.0 + chain.magnitude));
        REQUIRE(std::abs(float(tanh_of(float(chain.linear))) - exact) <= 1e-6 * (1.0 + chain.magnitude));
        double const logistic = 1.0 / (1.0 + std::exp(-chain.number));
        REQUIRE(std::abs(sigmoid_of(chain.linear) - logistic) <= 1e-6 * (1.0 + chain.magnitude));
    }
}

TEST_CASE("functions of scores are exact to a few units of 1e-7") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (unsigned seed = 0; seed < 2000; ++seed) {
        Random random(seed);
        double const size = std::exp(random.real(-8.0, 11.5));
        auto const x = static_cast<float>(random.real(-size, size));
        INFO("seed " << seed << ", " << x);
        REQUIRE(std::abs(angle_of(x)) < 3.15f);
        REQUIRE(std::abs(sine_of(x) - std::sin(double(x))) < 5e-7);
        REQUIRE(std::abs(cosine_of(x) - std::cos(double(x))) < 5e-7);
        double const logarithm = std::log(std::abs(double(x)));
        REQUIRE(std::abs(logarithm_of(std::abs(x)) - logarithm) < 5e-7 * (1.0 + std::abs(logarithm)));
    }
    CHECK(logarithm_of(0.0f) == -kInfinity);
    CHECK(std::isnan(logarithm_of(-1.0f)));
    CHECK(std::isnan(cosine_of(kInfinity)));
}

TEST_CASE("tanh of numbers near 0 has a short form, which is exact to a unit of 1e-6") {
    CHECK(has_short_tanh({0.5f, 1.0f}));
    CHECK(has_short_tanh({-5.0f, 0.1f}));
    CHECK_FALSE(has_short_tanh({0.51f, -1.0f}));
    for (float const factor : {5e6f, 1e-7f, 0.0f}) CHECK_FALSE(has_short_tanh({0.0f, factor}));
    for (float const factor : {-1e6f, 1e-6f}) {
        CHECK(has_short_tanh({0.4f / factor, factor}));
        CHECK(std::abs(float(short_tanh_of({0.4f / factor, factor})) - std::tanh(0.4)) < 1e-6);
        CHECK(float(short_tanh_of({0.0f, factor})) == 0.0f);
    }
    CHECK_FALSE(has_short_tanh({std::numeric_limits<float>::infinity(), 1.0f}));
    CHECK_FALSE(has_short_tanh({std::numeric_limits<float>::quiet_NaN(), 1.0f}));
    for (unsigned seed = 0; seed < 2000; ++seed) {
        Random random(seed);
        auto const factor = static_cast<float>(random.real(-4.0, 4.0));
        auto const number = static_cast<float>(random.real(-0.5, 0.5)) / factor;
        INFO("seed " << seed);
        double const exact = std::tanh(double(number) * double(factor));
        Scaled const made = short_tanh_of({number, factor});
        REQUIRE(std::abs(float(made) - exact) <= 1e-6 * std::abs(exact));
        REQUIRE(std::abs(made.number) <= std::abs(number));
        REQUIRE(std::abs(power_of(Uniform{2.0f} * -made, 0.5f) - (0.5 - 2 * exact * 1.4426950408889634)) <= 2e-6);
    }
    CHECK(std::isnan(float(short_tanh_of({std::numeric_limits<float>::quiet_NaN(), 1.0f}))));
}

TEST_CASE("scores that share a factor are in order of their numbers if it is above 0") {
    float factor = 0;
    CHECK(without_factor(Scaled{3.0f, 2.0f}, factor) == 3.0f);
    CHECK(factor == 2.0f * kLog2OfE);
    CHECK(without_factor(3.0f, factor) == 3.0f);
    CHECK(factor == kLog2OfE);
    CHECK(keeps_order(Scaled{3.0f, 2.0f}));
    CHECK_FALSE(keeps_order(Scaled{3.0f, 0.0f}));
    CHECK_FALSE(keeps_order(-Scaled{3.0f, 2.0f}));
    CHECK(keeps_order(-3.0f));
}

TEST_CASE("the greater or lesser of two numbers is NaN if either is") {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    for (float const other : {-2.0f, 0.0f, 3.0f}) {
        CHECK(std::isnan(greater_of(kNan, Uniform{other})));
        CHECK(std::isnan(greater_of(Uniform{other}, kNan)));
        CHECK(std::isnan(lesser_of(kNan, other)));
        CHECK(std::isnan(lesser_of(other, kNan)));
    }
    CHECK(greater_of(2, 3) == 3);
    CHECK(lesser_of(2.5f, 3) == 2.5f);
}

TEST_CASE("a choice is a number, and what no uniform number is part of is one, too") {
    Linear const x{3.0f, 2.0f, 1.0f};
    static_assert(std::is_same_v<decltype(chosen_of(true, x, Uniform{0.0f})), float>);
    static_assert(std::is_same_v<decltype(x * x), float>);
    static_assert(std::is_same_v<decltype(as_float(x * 2)), float>);
    CHECK(chosen_of(true, x, Uniform{5.0f}) == 7.0f);
    CHECK(chosen_of(0, x, Uniform{5.0f}) == 5.0f);
    CHECK(greater_of(x, Uniform{8.0f}) == 8.0f);
    CHECK(lesser_of(x, Uniform{8.0f}) == 7.0f);
    CHECK(magnitude_of(-x) == 7.0f);
    CHECK(x * x == 49.0f);
}
