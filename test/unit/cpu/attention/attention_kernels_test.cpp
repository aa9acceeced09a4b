#include "support/catch.h"

#include "attention/philox.h"
#include "core/floats.h"

#include "kernel_sets.h"

#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace {

namespace cpu = cudnn_frontend::cpu;
using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Floats random_floats(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Floats result(static_cast<std::size_t>(count));
    for (float& value : result) value = normal(random);
    return result;
}

std::size_t at(std::int64_t row, std::int64_t stride, std::int64_t column) {
    return static_cast<std::size_t>(row * stride + column);
}

}  // namespace

TEST_CASE("every instruction set multiplies matrices") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::int64_t const lanes = kernels->lanes, rows = 3 * kernels->row_step, depth = 37;
        Floats const a = random_floats(depth * rows, 1), b = random_floats(depth * lanes, 2);
        Floats const old = random_floats(rows * lanes, 3), factors = random_floats(lanes, 4);
        Floats assigned = old, rescaled = old;
        kernels->multiply({a.data(), rows, b.data(), lanes, assigned.data(), lanes, rows, lanes, depth});
        kernels->rescale_and_multiply({a.data(), rows, b.data(), lanes, rescaled.data(), lanes, rows, lanes, depth},
                                      factors.data());
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                double sum = 0.0;
                for (std::int64_t k = 0; k < depth; ++k)
                    sum += double{a[at(k, rows, row)]} * double{b[at(k, lanes, lane)]};
                double const kept = double{old[at(row, lanes, lane)]} * double{factors[at(0, 0, lane)]};
                REQUIRE(double{assigned[at(row, lanes, lane)]} == Approx(sum).margin(1e-4));
                REQUIRE(double{rescaled[at(row, lanes, lane)]} == Approx(kept + sum).margin(1e-4));
            }
        }
    }
}

TEST_CASE("every instruction set multiplies tiles") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::int64_t const lanes = kernels->lanes, rows = 2 * kernels->row_step, columns = 3 * lanes, depth = lanes - 1;
        Floats const tile = random_floats(rows * lanes, 1), b = random_floats(depth * columns, 2);
        Floats const old = random_floats(rows * columns, 3);
        Floats sums = old;
        kernels->multiply_tile({tile.data(), 0, b.data(), columns, sums.data(), columns, rows, columns, depth});
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t column = 0; column < columns; ++column) {
                double sum = double{old[at(row, columns, column)]};
                for (std::int64_t k = 0; k < depth; ++k) {
                    sum += double{tile[at(row, lanes, k)]} * double{b[at(k, columns, column)]};
                }
                REQUIRE(double{sums[at(row, columns, column)]} == Approx(sum).margin(1e-4));
            }
        }
    }
}

TEST_CASE("every instruction set has an accurate exponential") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        Floats const stats(static_cast<std::size_t>(kernels->lanes), 0.0f);
        for (double x = -87.0; x < 88.0; x += 0.37) {
            Floats tile(static_cast<std::size_t>(kernels->lanes), static_cast<float>(x));
            double const exact = std::exp(double{tile[0]});
            kernels->probabilities(tile.data(), 1, stats.data(), false);
            REQUIRE(double{tile[0]} == Approx(exact).epsilon(3e-7));
        }
    }
}

TEST_CASE("every instruction set keeps infinities and NaN where they belong in an exponential") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        for (bool const is_careful : {false, true}) {
            Floats stats(static_cast<std::size_t>(kernels->lanes), 0.0f), tile = stats;
            tile[0] = -kInfinity;
            tile[1] = -200.0f;
            tile[2] = kNan;
            stats[3] = -kInfinity;
            stats[4] = kNan;
            tile[5] = -kInfinity, stats[5] = kNan;
            tile[6] = kNan, stats[6] = -kInfinity;
            kernels->probabilities(tile.data(), 1, stats.data(), is_careful);
            CHECK(tile[0] == 0.0f);
            CHECK(tile[1] == 0.0f);
            CHECK(std::isnan(tile[2]));
            CHECK(tile[3] == 0.0f);
            CHECK(std::isnan(tile[4]));
            if (is_careful) CHECK(tile[5] == 0.0f);
            if (is_careful) CHECK(tile[6] == 0.0f);
        }
    }
}

TEST_CASE("every instruction set leaves out what a 0 in the tile is multiplied with, and changes no other bit") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::int64_t const lanes = kernels->lanes, rows = kernels->row_step, depth = 5;
        Floats const values = random_floats(depth * rows, 1), old = random_floats(rows * lanes, 2);
        Floats tile = random_floats(depth * lanes, 3), factors(static_cast<std::size_t>(lanes), 0.5f);
        for (std::int64_t key = 0; key < depth; ++key) tile[at(key, lanes, 1)] = 0.0f;
        tile[at(2, lanes, 0)] = 0.0f;
        factors[2] = 0.0f;
        auto const run = [&](Floats const& a, Floats c, bool leaves_out) {
            kernels->rescale_and_multiply(
                {a.data(), rows, tile.data(), lanes, c.data(), lanes, rows, lanes, depth, leaves_out}, factors.data());
            return c;
        };
        CHECK(run(values, old, true) == run(values, old, false));
        Floats wild = values, wild_old = old;
        wild[at(2, rows, 0)] = kNan;
        wild_old[at(0, lanes, 2)] = kInfinity;
        Floats const kept = run(wild, wild_old, true), multiplied = run(wild, wild_old, false);
        CHECK(kept[0] == run(values, old, true)[0]);  // of lane 0, whose tile has 0 at key 2
        CHECK(kept[1] == old[1] * 0.5f);              // of lane 1, whose tile has 0 throughout
        CHECK(std::isnan(kept[2]));                   // of lane 2, to which key 2 is visible
        CHECK(kept[at(1, lanes, 2)] == multiplied[at(1, lanes, 2)]);
        CHECK(std::isnan(multiplied[0]));
        CHECK(std::isnan(multiplied[1]));
    }
}

TEST_CASE("every instruction set leaves out rows whose element of the tile is 0") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::int64_t const lanes = kernels->lanes, rows = kernels->row_step, depth = 3;
        Floats tile = random_floats(rows * lanes, 1), b = random_floats(depth * lanes, 2);
        tile[at(0, lanes, 1)] = 0.0f;
        auto const run = [&](Floats const& columns, bool leaves_out) {
            Floats c(static_cast<std::size_t>(rows * lanes), 1.0f);
            kernels->multiply_tile(
                {tile.data(), 0, columns.data(), lanes, c.data(), lanes, rows, lanes, depth, leaves_out});
            return c;
        };
        CHECK(run(b, true) == run(b, false));
        Floats wild = b;
        wild[at(1, lanes, 0)] = kInfinity;
        CHECK(run(wild, true)[0] == run(b, true)[0]);
        CHECK(std::isinf(run(wild, true)[at(1, lanes, 0)]));
        CHECK(std::isnan(run(wild, false)[0]));
    }
}

TEST_CASE("every instruction set makes no gradient of what is masked or dropped") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        auto const lanes = static_cast<std::size_t>(kernels->lanes);
        Floats weights(lanes, 0.5f), gradients(lanes, 3.0f), mask(lanes, 1.0f), dots(lanes, 1.0f);
        weights[0] = 0.0f, gradients[0] = kNan;
        weights[1] = 0.0f, dots[1] = kInfinity, mask[1] = kNan;
        mask[2] = 0.0f, gradients[2] = kNan;
        weights[3] = kNan;
        kernels->score_gradients(weights.data(), gradients.data(), 1, {mask.data(), 4.0f, dots.data()});
        CHECK(gradients[0] == 0.0f);
        CHECK(gradients[1] == 0.0f);
        CHECK(weights[1] == 0.0f);
        CHECK(gradients[2] == -0.5f);
        CHECK(weights[2] == 0.0f);
        CHECK(std::isnan(gradients[3]));
        CHECK(std::isnan(weights[3]));
        CHECK(gradients[4] == 0.5f * (3.0f * 4.0f - 1.0f));
        CHECK(weights[4] == 2.0f);
    }
}

TEST_CASE("every instruction set finds the maximum NaN where a score is, in any order") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        auto const lanes = static_cast<std::size_t>(kernels->lanes);
        Floats tops(lanes, -kInfinity), sums(lanes, 0.0f), rescale(lanes, 0.0f), tile(3 * lanes, 1.0f);
        for (std::size_t const lane : {std::size_t{0}, std::size_t{1}, std::size_t{2}})
            tile[lane * lanes + lane] = kNan;
        tile[3] = kInfinity;
        kernels->softmax_step(tile.data(), 3, tops.data(), sums.data(), rescale.data());
        for (std::size_t const lane : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) CHECK(std::isnan(tops[lane]));
        CHECK(tops[3] == kInfinity);
        CHECK(tops[4] == 1.0f);
        Floats next(lanes, 5.0f);
        kernels->softmax_step(next.data(), 1, tops.data(), sums.data(), rescale.data());
        CHECK(std::isnan(tops[0]));
        CHECK(std::isnan(sums[0]));
        CHECK(tops[4] == 5.0f);
    }
}

TEST_CASE("every instruction set takes softmax through two steps and past masked keys") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::int64_t const lanes = kernels->lanes;
        Floats tops(static_cast<std::size_t>(lanes), -kInfinity), sums(tops.size(), 0.0f), rescale(tops.size(), -1.0f);
        Floats first(tops.size(), 1.0f), second(tops.size(), 3.0f);
        first[0] = second[0] = -kInfinity;
        first[1] = -kInfinity;
        kernels->softmax_step(first.data(), 1, tops.data(), sums.data(), rescale.data());
        CHECK(rescale[2] == 0.0f);
        kernels->softmax_step(second.data(), 1, tops.data(), sums.data(), rescale.data());
        CHECK(sums[0] == 0.0f);
        CHECK(tops[0] == -kInfinity);
        CHECK(sums[1] == 1.0f);
        CHECK(double{sums[2]} == Approx(1.0 + std::exp(-2.0)));
        CHECK(double{rescale[2]} == Approx(std::exp(-2.0)));
        CHECK(tops[2] == 3.0f);
    }
}

TEST_CASE("every instruction set finds NaN in any place") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        Floats numbers = random_floats(3 * kernels->lanes, 7);
        numbers[1] = kInfinity, numbers[2] = -kInfinity;
        auto const count = static_cast<std::int64_t>(numbers.size());
        CHECK_FALSE(kernels->holds_nan(numbers.data(), count));
        for (float& number : numbers) {
            float const before = number;
            number = kNan;
            CHECK(kernels->holds_nan(numbers.data(), count));
            number = before;
        }
    }
}

TEST_CASE("every instruction set clears columns whose factor is 0") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        Floats rows(static_cast<std::size_t>(kernels->lanes), 3.0f), factors(rows.size(), 2.0f);
        rows[1] = std::numeric_limits<float>::quiet_NaN();
        factors[1] = 0.0f;
        kernels->scale_lanes(rows.data(), 1, factors.data());
        CHECK(rows[0] == 6.0f);
        CHECK(rows[1] == 0.0f);
    }
}

TEST_CASE("every instruction set multiplies vectors and rows of floats or BFLOAT16 numbers") {
    std::int64_t const width = 5 * cpu::kRowStep, count = 37, vectors = 6, stride = width + 3, weight_stride = 40;
    Floats rows = random_floats(count * stride, 1);
    std::vector<std::uint16_t> halves(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        halves[i] = cudnn_frontend::core::float_to_bfloat16(rows[i]);
        rows[i] = cudnn_frontend::core::bfloat16_to_float(halves[i]);
    }
    Floats const given = random_floats(vectors * width, 2);
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        bool const are_bfloat16 = GENERATE(false, true);
        CAPTURE(kernels->name, are_bfloat16);
        Floats q = given, weights(static_cast<std::size_t>(vectors * weight_stride), -1.0f), sums = given;
        cpu::RowProducts products{rows.data(), are_bfloat16, stride,  count,          width,
                                  q.data(),    width,        vectors, weights.data(), weight_stride};
        if (are_bfloat16) products.rows = halves.data();
        kernels->dot_rows(products);
        products.vectors = sums.data();
        kernels->add_rows(products);
        for (std::int64_t i = 0; i < vectors; ++i) {
            std::vector<double> expected(given.begin() + i * width, given.begin() + (i + 1) * width);
            for (std::int64_t row = 0; row < count; ++row) {
                double dot = 0.0, weight = double{weights[at(i, weight_stride, row)]};
                for (std::int64_t column = 0; column < width; ++column) {
                    double const number = double{rows[at(row, stride, column)]};
                    dot += double{given[at(i, width, column)]} * number;
                    expected[at(0, 0, column)] += weight * number;
                }
                REQUIRE(weight == Approx(dot).margin(1e-4));
            }
            REQUIRE(weights[at(i, weight_stride, count)] == -1.0f);
            for (std::int64_t column = 0; column < width; ++column)
                REQUIRE(double{sums[at(i, width, column)]} == Approx(expected[at(0, 0, column)]).epsilon(1e-4));
        }
    }
}

TEST_CASE("every instruction set leaves out rows whose weight is 0, and changes no other bit") {
    std::int64_t const width = cpu::kRowStep, count = 5;
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        Floats rows = random_floats(count * width, 1), weights = random_floats(count, 2);
        weights[2] = 0.0f;
        auto const run = [&](bool leaves_out) {
            Floats sums(static_cast<std::size_t>(width), 1.0f);
            kernels->add_rows(
                {rows.data(), false, width, count, width, sums.data(), width, 1, weights.data(), count, leaves_out});
            return sums;
        };
        Floats const plain = run(false);
        CHECK(run(true) == plain);
        rows[at(2, width, 3)] = kNan;
        CHECK(run(true) == plain);
        CHECK(std::isnan(run(false)[3]));
    }
}

TEST_CASE("every instruction set computes the softmax of a row") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        Floats scores = random_floats(3 * cpu::kRowStep, 5);
        auto const count = static_cast<std::int64_t>(scores.size());
        scores[4] = -kInfinity, scores[40] = 9.0f;
        Floats weights = scores;
        cpu::RowSoftmax const found = kernels->softmax_row(weights.data(), count);
        CHECK(found.max == 9.0f);
        double sum = 0.0;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            sum += std::exp(double{scores[i]} - 9.0);
            CHECK(double{weights[i]} == Approx(std::exp(double{scores[i]} - 9.0)).epsilon(1e-6));
        }
        CHECK(double{found.sum} == Approx(sum).epsilon(1e-6));
        for (std::size_t const place : {std::size_t{0}, std::size_t{21}, scores.size() - 1}) {
            weights = scores;
            weights[place] = kNan;
            cpu::RowSoftmax const wild = kernels->softmax_row(weights.data(), count);
            CHECK(std::isnan(wild.max));
            CHECK(std::isnan(wild.sum));
        }
        Floats masked(scores.size(), -kInfinity);
        cpu::RowSoftmax const none = kernels->softmax_row(masked.data(), count);
        CHECK(none.max == -kInfinity);
        CHECK(none.sum == 0.0f);
        CHECK(masked == Floats(scores.size(), 0.0f));
    }
}

TEST_CASE("every instruction set transposes numbers") {
    constexpr std::int64_t kRows = 32, kColumns = 48, kFrom = 51, kTo = 35, kUnwritten = 0xdead;
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::vector<std::uint32_t> from(kRows * kFrom), to(kColumns * kTo, kUnwritten);
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint32_t>(i);
        kernels->transpose({from.data(), kFrom, kRows, kColumns, to.data(), kTo});
        for (std::int64_t i = 0; i < kColumns * kTo; ++i) {
            std::int64_t const row = i % kTo, column = i / kTo;
            REQUIRE(to[at(0, 0, i)] == (row < kRows ? from[at(row, kFrom, column)] : kUnwritten));
        }
        constexpr std::int64_t kStride = cpu::PairBlocks::stride(kRows) + 7;
        std::vector<std::uint32_t> blocks(2 * kStride, kUnwritten), expected = blocks;
        kernels->transpose({from.data(), kFrom, kRows, kColumns, blocks.data(), kStride, true});
        for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
            std::int64_t const row = i / kColumns, column = i % kColumns;
            expected[at(0, 0, cpu::PairBlocks::at(column, row, kStride))] = from[at(row, kFrom, column)];
        }
        REQUIRE(blocks == expected);
    }
}

TEST_CASE("every instruction set has an accurate tanh and its slope") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        auto const apply = [&](cpu::TileFunction function, float x, float factor) {
            Floats const number(static_cast<std::size_t>(kernels->lanes), x), factors(number.size(), factor);
            Floats out(number.size(), -7.0f);
            cpu::TileRows const operand{number.data(), 0}, scaled{factors.data(), 0};
            bool const is_gradient = function == cpu::TileFunction::TanhGradient;
            kernels->apply({function, {is_gradient ? scaled : operand, operand, {}}, out.data(), 1});
            return out.front();
        };
        for (double size = 1e-6; size < 60.0; size *= 1.07) {
            for (float const x : {static_cast<float>(size), static_cast<float>(-size)}) {
                CAPTURE(x);
                double const exact = std::tanh(double{x}), cosine = std::cosh(double{x});
                REQUIRE(double{apply(cpu::TileFunction::Tanh, x, 0.0f)} == Approx(exact).epsilon(4e-7));
                double const slope = 3.0 / (cosine * cosine);
                REQUIRE(double{apply(cpu::TileFunction::TanhGradient, x, 3.0f)} ==
                        Approx(slope).epsilon(4e-7).margin(1e-36));
            }
        }
        for (float const infinity : {kInfinity, -kInfinity}) {
            CHECK(apply(cpu::TileFunction::Tanh, infinity, 0.0f) == (infinity > 0.0f ? 1.0f : -1.0f));
            CHECK(apply(cpu::TileFunction::TanhGradient, infinity, 3.0f) == 0.0f);
        }
        CHECK(std::isnan(apply(cpu::TileFunction::Tanh, kNan, 0.0f)));
        CHECK(std::isnan(apply(cpu::TileFunction::TanhGradient, kNan, 3.0f)));
    }
}

TEST_CASE("tanh of a tile has a form for small numbers only if all of its numbers are small") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::int64_t const lanes = kernels->lanes, rows = 3;
        Floats numbers = random_floats(rows * lanes, 3);
        for (float& number : numbers) number *= 0.4f;
        for (float const far : {0.4f, 0.6f, 30.0f, -30.0f, kInfinity, kNan}) {
            CAPTURE(far);
            numbers.back() = far;
            Floats tangents(numbers.size()), slopes(numbers.size()), factors(numbers.size(), 3.0f);
            cpu::TileRows const operand{numbers.data(), lanes}, factor{factors.data(), lanes};
            kernels->apply({cpu::TileFunction::Tanh, {operand, {}, {}}, tangents.data(), rows});
            kernels->apply({cpu::TileFunction::TanhGradient, {factor, operand, {}}, slopes.data(), rows});
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                double const exact = std::tanh(double{numbers[i]}), cosine = std::cosh(double{numbers[i]});
                bool const is_nan = std::isnan(numbers[i]);
                REQUIRE((is_nan ? std::isnan(tangents[i]) : double{tangents[i]} == Approx(exact).epsilon(4e-7)));
                REQUIRE((is_nan ? std::isnan(slopes[i])
                                : double{slopes[i]} == Approx(3.0 / (cosine * cosine)).epsilon(4e-7).margin(1e-24)));
            }
        }
    }
}

TEST_CASE("every instruction set divides by a row as the processor divides") {
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        std::int64_t const lanes = kernels->lanes, rows = 500;
        Floats numbers = random_floats(rows * lanes, 3), divisors = random_floats(lanes, 4);
        divisors[1] = 7.0f, divisors[2] = 0.0f, divisors[3] = kInfinity;
        for (std::int64_t row = 0; row < rows; ++row) numbers[at(row, lanes, 1)] = static_cast<float>(7 * row);
        numbers[4] = kInfinity, numbers[5] = -kInfinity, numbers[6] = kNan;
        Floats quotients(numbers.size());
        kernels->apply(
            {cpu::TileFunction::Divide, {{numbers.data(), lanes}, {divisors.data(), 0}, {}}, quotients.data(), rows});
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            float const expected = numbers[i] / divisors[i % static_cast<std::size_t>(lanes)];
            CAPTURE(i, numbers[i], expected, quotients[i]);
            REQUIRE((quotients[i] == expected || (std::isnan(quotients[i]) && std::isnan(expected))));
        }
    }
}

TEST_CASE("every instruction set draws the same dropout mask, past 32 bits of the counter too") {
    using cudnn_frontend::attention::PhiloxMask;
    constexpr std::int64_t kSeed = 0x123456789abcdef, kOffset = -3, kColumns = 4 * 500, kGroups = 3, kFirstGroup = 7;
    constexpr std::int64_t kFirstRow = 0x100000000 / 500 - 5;  // the last groups before 2^32
    for (double const keep : {0.0, 0.3, 0.9, 1.0}) {
        PhiloxMask const generator(kSeed, kOffset, keep, kColumns);
        for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
            CAPTURE(kernels->name, keep);
            Floats mask(static_cast<std::size_t>(4 * kGroups * kernels->lanes), kNan);
            kernels->draw({generator.seed(), generator.offset(), generator.counter(kFirstRow, kFirstGroup),
                           generator.groups_per_row(), generator.last_kept(), kGroups, mask.data()});
            for (std::int64_t key = 0; key < 4 * kGroups; ++key) {
                for (std::int64_t lane = 0; lane < kernels->lanes; ++lane) {
                    bool const is_kept = generator.keeps(kFirstRow + lane, 4 * kFirstGroup + key);
                    REQUIRE(mask[at(key, kernels->lanes, lane)] == (is_kept ? 1.0f : 0.0f));
                }
            }
        }
    }
}

TEST_CASE("every instruction set that converts HALF gives the same floats as the host") {
    std::vector<std::uint16_t> numbers;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) numbers.push_back(static_cast<std::uint16_t>(bits));
    Floats expected;
    for (std::uint16_t const number : numbers) expected.push_back(cudnn_frontend::core::half_to_float(number));
    for (cpu::Kernels const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        if (kernels->half_to_floats == nullptr) {
            CHECK(kernels->name == std::string_view("baseline"));
            continue;
        }
        Floats found(numbers.size(), -1.0f);
        kernels->half_to_floats(numbers.data(), static_cast<std::int64_t>(numbers.size()), found.data());
        for (std::size_t i = 0; i < found.size(); ++i) {
            CAPTURE(i, found[i], expected[i]);
            REQUIRE((found[i] == expected[i] || (std::isnan(found[i]) && std::isnan(expected[i]))));
        }
    }
}
