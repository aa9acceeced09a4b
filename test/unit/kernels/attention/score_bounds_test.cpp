// Bounds of modified scores hold for all numbers within the bounds of the operands.
#include "unit/kernels/host/cuda_words.h"
#include "unit/kernels/host/host_async.h"
#include "unit/kernels/host/host_threads.h"

#include <attention/score_bounds.cuh>

#include "support/catch.h"
#include "support/random.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace {

using sdpa_test::Random;

// A function of numbers, and the same of their bounds.
struct Function {
    char const* name;
    std::function<double(double, double, double)> of_numbers;
    std::function<Bounds(Bounds, Bounds, Bounds)> of_bounds;
};

std::vector<Function> const kFunctions = {
    {"a + b", [](double a, double b, double) { return a + b; }, [](Bounds a, Bounds b, Bounds) { return a + b; }},
    {"a - b", [](double a, double b, double) { return a - b; }, [](Bounds a, Bounds b, Bounds) { return a - b; }},
    {"a * b", [](double a, double b, double) { return a * b; }, [](Bounds a, Bounds b, Bounds) { return a * b; }},
    {"-a", [](double a, double, double) { return -a; }, [](Bounds a, Bounds, Bounds) { return -a; }},
    {"greater_of", [](double a, double b, double) { return std::max(a, b); },
     [](Bounds a, Bounds b, Bounds) { return greater_of(a, b); }},
    {"lesser_of", [](double a, double b, double) { return std::min(a, b); },
     [](Bounds a, Bounds b, Bounds) { return lesser_of(a, b); }},
    {"magnitude_of", [](double a, double, double) { return std::abs(a); },
     [](Bounds a, Bounds, Bounds) { return magnitude_of(a); }},
    {"inverse_of", [](double a, double, double) { return static_cast<double>(1 / static_cast<float>(a)); },
     [](Bounds a, Bounds, Bounds) { return inverse_of(a); }},
    {"remainder_of", [](double a, double b, double) { return std::fmod(a, b); },
     [](Bounds a, Bounds b, Bounds) { return remainder_of(a, b); }},
    {"floorf", [](double a, double, double) { return std::floor(a); },
     [](Bounds a, Bounds, Bounds) { return floorf(a); }},
    {"a == b", [](double a, double b, double) { return a == b; }, [](Bounds a, Bounds b, Bounds) { return a == b; }},
    {"a != b", [](double a, double b, double) { return a != b; }, [](Bounds a, Bounds b, Bounds) { return a != b; }},
    {"a > b", [](double a, double b, double) { return a > b; }, [](Bounds a, Bounds b, Bounds) { return a > b; }},
    {"a >= b", [](double a, double b, double) { return a >= b; }, [](Bounds a, Bounds b, Bounds) { return a >= b; }},
    {"a < b", [](double a, double b, double) { return a < b; }, [](Bounds a, Bounds b, Bounds) { return a < b; }},
    {"a <= b", [](double a, double b, double) { return a <= b; }, [](Bounds a, Bounds b, Bounds) { return a <= b; }},
    {"a && b", [](double a, double b, double) { return a != 0 && b != 0; },
     [](Bounds a, Bounds b, Bounds) { return a && b; }},
    {"a || b", [](double a, double b, double) { return a != 0 || b != 0; },
     [](Bounds a, Bounds b, Bounds) { return a || b; }},
    {"chosen_of", [](double a, double b, double c) { return c != 0 ? a : b; },
     [](Bounds a, Bounds b, Bounds c) { return chosen_of(c, a, b); }},
};

// Bounds that often touch others, and 0.
Bounds random_bounds(Random& random) {
    if (random.chance(0.1)) return {};
    auto const low = static_cast<double>(random.between(-3, 3)) / 2;
    return {low, low + static_cast<double>(random.between(0, 3)) / 2};
}

std::vector<double> numbers_in(Bounds const& bounds) {
    if (!bounds.is_finite()) return {-infinity(), -1e30, -1, 0, 0.5, 1e30, infinity(), std::nan("")};
    std::vector<double> numbers;
    for (double number = bounds.low; number <= bounds.high; number += 0.25) numbers.push_back(number);
    return numbers;
}

bool holds(Bounds const& bounds, double number) {
    bool const is_anything = bounds.low == -infinity() && bounds.high == infinity();
    return is_anything || (number >= bounds.low && number <= bounds.high);
}

}  // namespace

TEST_CASE("bounds of a function hold for all operands within their bounds") {
    Random random(1);
    for (int i = 0; i < 4000; ++i) {
        Bounds const a = random_bounds(random), b = random_bounds(random), c = random_bounds(random);
        for (Function const& function : kFunctions) {
            Bounds const result = function.of_bounds(a, b, c);
            bool is_right = true;
            for (double const x : numbers_in(a))
                for (double const y : numbers_in(b))
                    for (double const z : numbers_in(c))
                        is_right = is_right && holds(result, function.of_numbers(x, y, z));
            INFO(function.name << " of [" << a.low << ", " << a.high << "], [" << b.low << ", " << b.high << "], ["
                               << c.low << ", " << c.high << "] is [" << result.low << ", " << result.high << "]");
            CHECK(is_right);
        }
    }
}

TEST_CASE("known operands have a known result") {
    CHECK((Bounds(2, 3) > Bounds(0, 1)).is(1));
    CHECK((Bounds(2, 3) <= Bounds(0, 1)).is(0));
    CHECK((Bounds(2) == Bounds(2)).is(1));
    CHECK((Bounds(0, 1) == Bounds(2, 3)).is(0));
    CHECK(chosen_of(Bounds(0, 1) < Bounds(0.5), Bounds(), Bounds(-infinity())).high == infinity());
    CHECK(remainder_of(Bounds(17), Bounds(8)).is(1));
    CHECK(remainder_of(Bounds(16, 19), Bounds(8)).high == 3);
    CHECK(!remainder_of(Bounds(1e17), Bounds(3)).is_finite());
    CHECK(chosen_of(Bounds(1) < Bounds(0), Bounds(), Bounds(-infinity())).is(-infinity()));
}

TEST_CASE("a type rounds bounds, and integers that FLOAT does not have can be anything") {
    CHECK(computed_as<float>(Bounds(16777217.0)).is(16777216.0));
    CHECK(computed_as<int>(Bounds(-1.5, 2.5)).low == -1);
    CHECK(computed_as<int>(Bounds(-1.5, 2.5)).high == 2);
    CHECK(!computed_as<int>(Bounds(0, 16777217.0)).is_finite());
    CHECK(computed_as<bool>(Bounds(2, 3)).is(1));
    Bounds input(0.0);
    input.is_input = true;
    CHECK(computed_as<float>(input).is_input);
    CHECK(chosen_of(Bounds(1), input, Bounds(-infinity())).is_input);
    CHECK(!(input + Bounds(0.0)).is_input);
}
