#include "support/catch.h"
#include "support/skip.h"

#include "kernel_sets.h"

#include "core/floats.h"
#include "cpu/attention/kernels/amx.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

namespace {

namespace cpu = cudnn_frontend::cpu;
namespace core = cudnn_frontend::core;
using Floats = std::vector<float>;
using Pairs = std::vector<std::uint32_t>;

constexpr std::int64_t kLanes = 32;
constexpr std::uint32_t kUnwritten = 0x7fc07fc0;  // NaN, so that a product that reads it shows
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::size_t index(std::int64_t at) { return static_cast<std::size_t>(at); }
Floats floats(std::int64_t count, float value) { return Floats(index(count), value); }

// Numbers of BFLOAT16.
Floats random_numbers(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    Floats result(index(count));
    for (float& value : result) value = core::bfloat16_to_float(core::float_to_bfloat16(normal(random)));
    return result;
}

std::uint32_t pair_of(float low, float high) {
    return core::float_to_bfloat16(low) | std::uint32_t{core::float_to_bfloat16(high)} << 16;
}

// A matrix of rows x (2 pairs), which is multiplied over its columns.
struct Matrix {
    std::int64_t rows, pairs;
    Floats numbers;

    Matrix(std::int64_t rows_, std::int64_t pairs_, unsigned seed)
        : rows(rows_), pairs(pairs_), numbers(random_numbers(rows_ * pairs_ * 2, seed)) {}
    float at(std::int64_t row, std::int64_t column) const { return numbers[index(row * 2 * pairs + column)]; }
    std::uint32_t pair(std::int64_t row, std::int64_t pair) const {
        return pair_of(at(row, 2 * pair), at(row, 2 * pair + 1));
    }
    // The pairs in blocks, or each pair's rows next to each other.
    Pairs in_blocks(std::int64_t stride) const {
        Pairs result(index((rows + 31) / 32 * stride), kUnwritten);
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t i = 0; i < pairs; ++i) result[index(cpu::PairBlocks::at(row, i, stride))] = pair(row, i);
        }
        return result;
    }
    Pairs by_pairs(std::int64_t stride) const {
        Pairs result(index(pairs * stride), kUnwritten);
        for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t i = 0; i < pairs; ++i) result[index(i * stride + row)] = pair(row, i);
        }
        return result;
    }
};

double product(Matrix const& a, std::int64_t row, Matrix const& b, std::int64_t column) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < 2 * a.pairs; ++k) sum += double{a.at(row, k)} * double{b.at(column, k)};
    return sum;
}

// Calls check(kernels, pairs) for all kernels that multiply pairs.
template <class Check>
void for_each_set(Check check) {
    auto const sets = attention_test::kernel_sets_with_pairs();
    if (sets.empty()) return sdpa_test::skip("the processor lacks AVX-512 with BFLOAT16");
    for (cpu::Kernels const* const kernels : sets) {
        CAPTURE(kernels->name);
        REQUIRE(kernels->lanes == kLanes);
        cpu::PairScope const scope(kernels->pairs);
        check(*kernels, *kernels->pairs);
    }
}

}  // namespace

TEST_CASE("kernels for AMX run with its instructions") {
    auto const sets = attention_test::kernel_sets();
    auto const has_amx = [](cpu::Kernels const* kernels) { return kernels->name == std::string_view("amx"); };
    if (cpu::AmxState const state = cpu::amx_state(); state != cpu::AmxState::Usable)
        return sdpa_test::skip(std::string("no AMX: ") + cpu::why_no_amx(state));
    CHECK(std::ranges::any_of(sets, has_amx));  // so all other cases run with them
    CHECK(cpu::why_no_amx(cpu::AmxState::Usable) == std::string_view());
}

TEST_CASE("pairs are multiplied over any number of rows and any depth") {
    for_each_set([](cpu::Kernels const&, cpu::PairKernels const& pairs) {
        bool const is_in_blocks = pairs.layout == cpu::PairLayout::Blocks;
        for (std::int64_t const steps : {1, 2, 3, 5}) {
            CAPTURE(steps);
            std::int64_t const rows = steps * pairs.row_step, depth = (6 - steps) * pairs.depth_step;
            std::int64_t const stride = (is_in_blocks ? cpu::PairBlocks::stride(depth) : rows) + 3;
            Matrix const a(rows, depth, 1), b(kLanes, depth, 2);
            Pairs const a_pairs = is_in_blocks ? a.in_blocks(stride) : a.by_pairs(stride), b_pairs = b.by_pairs(kLanes);
            Floats const old = random_numbers(rows * kLanes, 3);
            Floats factors = random_numbers(kLanes, 4), assigned = old, rescaled = old, added = old;
            factors[5] = 0.0f;
            rescaled[5] = kNan;  // which the factor clears
            auto const of = [&](Floats& c) {
                return cpu::PairProduct{a_pairs.data(), stride, b_pairs.data(), kLanes, c.data(),
                                        kLanes,         rows,   kLanes,         depth};
            };
            pairs.multiply(of(assigned), 0.75f);
            pairs.rescale_and_multiply(of(rescaled), factors.data());
            pairs.rescale_and_multiply(of(added), floats(kLanes, 1.0f).data());
            for (std::int64_t i = 0; i < rows * kLanes; ++i) {
                double const sum = product(a, i / kLanes, b, i % kLanes), kept = double{old[index(i)]};
                REQUIRE(double{assigned[index(i)]} == Approx(sum * 0.75).margin(1e-4));
                REQUIRE(double{rescaled[index(i)]} ==
                        Approx(kept * double{factors[index(i % kLanes)]} + sum).margin(1e-4));
                REQUIRE(double{added[index(i)]} == Approx(kept + sum).margin(1e-4));
            }
        }
    });
}

TEST_CASE("tiles of pairs of lanes are multiplied by rows of any width") {
    for_each_set([](cpu::Kernels const&, cpu::PairKernels const& pairs) {
        for (std::int64_t const steps : {1, 2, 3}) {
            CAPTURE(steps);
            std::int64_t const rows = steps * pairs.row_step, columns = steps * kLanes, depth = kLanes / 2;
            Matrix const b(columns, depth, 1);
            Floats const tile = random_numbers(rows * kLanes, 2), old = random_numbers(rows * columns, 3);
            std::int64_t const stride = cpu::PairBlocks::stride(depth);
            Pairs a(index(cpu::PairBlocks::size(rows, depth))), b_pairs = b.by_pairs(columns);
            pairs.pair_lanes(tile.data(), rows, a.data(), stride);
            Floats sums = old;
            pairs.multiply_tile(
                {a.data(), stride, b_pairs.data(), columns, sums.data(), columns, rows, columns, depth});
            // The same with each block of columns for itself.
            std::int64_t const b_block = depth * kLanes + 3;
            Pairs b_blocks(index(steps * b_block), kUnwritten);
            for (std::int64_t i = 0; i < columns * depth; ++i) {
                std::int64_t const column = i % columns, at = column / kLanes * b_block + i / columns * kLanes;
                b_blocks[index(at + column % kLanes)] = b_pairs[index(i)];
            }
            Floats by_blocks = old;
            pairs.multiply_tile(
                {a.data(), stride, b_blocks.data(), kLanes, by_blocks.data(), columns, rows, columns, depth, b_block});
            REQUIRE(by_blocks == sums);
            for (std::int64_t i = 0; i < rows * columns; ++i) {
                double sum = double{old[index(i)]};
                for (std::int64_t k = 0; k < kLanes; ++k)
                    sum += double{tile[index(i / columns * kLanes + k)]} * double{b.at(i % columns, k)};
                REQUIRE(double{sums[index(i)]} == Approx(sum).margin(1e-4));
            }
        }
    });
}

TEST_CASE("tiles are rounded to pairs of lanes in blocks, and to pairs of rows") {
    for_each_set([](cpu::Kernels const&, cpu::PairKernels const& pairs) {
        constexpr std::int64_t kRows = 37, kStride = 530;
        Floats tile = random_numbers(kRows * kLanes, 1);
        for (float& number : tile) number *= 1.001f;  // which BFLOAT16 cannot hold
        Pairs lanes(index(2 * kStride), kUnwritten), expected = lanes,
                                                     rows(index(cpu::kMostTileKeys / 2 * kLanes), kUnwritten);
        pairs.pair_lanes(tile.data(), kRows, lanes.data(), kStride);
        pairs.pair_rows(tile.data(), kRows, rows.data());
        auto const at = [&](std::int64_t row, std::int64_t lane) {
            return row < kRows ? tile[index(row * kLanes + lane)] : 0.0f;
        };
        for (std::int64_t i = 0; i < kRows * kLanes / 2; ++i) {
            std::int64_t const row = i / (kLanes / 2), pair = i % (kLanes / 2);
            expected[index(cpu::PairBlocks::at(row, pair, kStride))] =
                pair_of(at(row, 2 * pair), at(row, 2 * pair + 1));
        }
        REQUIRE(lanes == expected);
        std::int64_t const depth = (kRows / 2 + pairs.depth_step) / pairs.depth_step * pairs.depth_step;
        for (std::int64_t i = 0; i < cpu::kMostTileKeys / 2 * kLanes; ++i) {
            std::int64_t const pair = i / kLanes, lane = i % kLanes;
            REQUIRE(rows[index(i)] ==
                    (pair < depth ? pair_of(at(2 * pair, lane), at(2 * pair + 1, lane)) : kUnwritten));
        }
    });
}

TEST_CASE("softmax with pairs is softmax, scaled and rounded to pairs") {
    constexpr float kScale = 0.3f;
    for_each_set([](cpu::Kernels const& kernels, cpu::PairKernels const& pairs) {
        for (std::int64_t const keys : {1, 2, 7, 64}) {
            // The second makes scores so large that they are not scaled and subtracted at once.
            for (float const spread : {9.0f, 3000.0f}) {
                CAPTURE(keys, spread);
                Floats tile = random_numbers(keys * kLanes, 1);
                for (float& score : tile) score *= spread;
                Floats max = random_numbers(kLanes, 2), sum = floats(kLanes, 1.5f), rescale = sum;
                for (std::int64_t key = 0; key < keys; ++key) tile[index(key * kLanes + 3)] = -INFINITY;
                max[3] = max[4] = -INFINITY, sum[3] = sum[4] = 0.0f;  // lane 3 never sees a key, lane 4 none before
                max[5] = 1000.0f;                                     // next to which all weights vanish
                Floats expected_tile = tile, expected_max = max, expected_sum = sum, expected_rescale = rescale;
                for (float& score : expected_tile) score *= kScale;
                kernels.softmax_step(expected_tile.data(), keys, expected_max.data(), expected_sum.data(),
                                     expected_rescale.data());
                Pairs weights(index(cpu::kMostTileKeys / 2 * kLanes), kUnwritten);
                pairs.softmax_step(
                    {tile.data(), keys, kScale, max.data(), sum.data(), rescale.data(), weights.data(), {}});
                for (std::int64_t lane = 0; lane < kLanes; ++lane) {
                    CAPTURE(lane);
                    REQUIRE(max[index(lane)] == expected_max[index(lane)]);
                    REQUIRE(double{sum[index(lane)]} == Approx(double{expected_sum[index(lane)]}).epsilon(2e-6));
                    REQUIRE(double{rescale[index(lane)]} ==
                            Approx(double{expected_rescale[index(lane)]}).epsilon(2e-6));
                    for (std::int64_t key = 0; key < (keys + 1) / 2 * 2; ++key) {
                        std::uint32_t const pair = weights[index(key / 2 * kLanes + lane)];
                        float const weight =
                            core::bfloat16_to_float(static_cast<std::uint16_t>(key % 2 == 0 ? pair : pair >> 16));
                        float const exact = key < keys ? expected_tile[index(key * kLanes + lane)] : 0.0f;
                        REQUIRE(double{weight} == Approx(double{exact}).epsilon(0x1.02p-8));
                    }
                }
            }
        }
    });
}

TEST_CASE("the running maximum lags behind by at most what is allowed") {
    for_each_set([](cpu::Kernels const&, cpu::PairKernels const& pairs) {
        constexpr float kLag = 2.0f;
        // The first lane's maximum moves least and the last one's most. Lane 4 sees no key before.
        Floats tile = floats(2 * kLanes, 0.0f), max = floats(kLanes, 0.0f), sum = floats(kLanes, 1.0f), rescale = sum;
        for (std::int64_t lane = 0; lane < kLanes; ++lane) tile[index(lane)] = 0.125f * static_cast<float>(lane);
        max[4] = -INFINITY, sum[4] = 0.0f;
        Pairs weights(index(cpu::kMostTileKeys / 2 * kLanes), kUnwritten);
        pairs.softmax_step({tile.data(), 2, 1.0f, max.data(), sum.data(), rescale.data(), weights.data(), {}, kLag});
        for (std::int64_t lane = 0; lane < kLanes; ++lane) {
            CAPTURE(lane);
            float const score = tile[index(lane)], expected = lane == 4 || score > kLag ? score : 0.0f;
            REQUIRE(max[index(lane)] == expected);
            REQUIRE((rescale[index(lane)] == 1.0f) == (expected == 0.0f));
            double const all = std::exp(double{score}) + (lane == 4 ? 1.0 : 2.0);
            REQUIRE(double{max[index(lane)]} + std::log(double{sum[index(lane)]}) ==
                    Approx(std::log(all)).margin(1e-5));
            float const weight = core::bfloat16_to_float(static_cast<std::uint16_t>(weights[index(lane)]));
            REQUIRE(double{weight} == Approx(std::exp(double{score - expected})).epsilon(0x1.02p-8));
        }
    });
}

TEST_CASE("products that run during softmax are the same, and may replace its scores") {
    for_each_set([](cpu::Kernels const&, cpu::PairKernels const& pairs) {
        if (pairs.layout != cpu::PairLayout::Blocks) return;
        for (std::int64_t const keys : {5, 48, 80, 128}) {
            CAPTURE(keys);
            constexpr std::int64_t kRows = 112, kAddedRows = 48, kDepth = 32;
            Matrix const a(kRows, kDepth, 1), b(kLanes, kDepth, 2);
            Pairs const a_pairs = a.in_blocks(cpu::PairBlocks::stride(kDepth)), b_pairs = b.by_pairs(kLanes);
            auto const product = [&](Floats& c, std::int64_t rows) {
                return cpu::PairProduct{a_pairs.data(), cpu::PairBlocks::stride(kDepth),
                                        b_pairs.data(), kLanes,
                                        c.data(),       kLanes,
                                        rows,           kLanes,
                                        kDepth};
            };
            Floats scores = random_numbers(cpu::kMostTileKeys * kLanes, 3),
                   added = random_numbers(kAddedRows * kLanes, 4);
            scores[index((keys - 1) * kLanes + 7)] = kNan;
            Floats expected_scores = scores, expected_added = added, max = floats(kLanes, 0.5f), sum = max;
            Floats expected_max = max, expected_sum = sum, rescale = max;
            Pairs weights(index(cpu::kMostTileKeys / 2 * kLanes), kUnwritten), expected_weights = weights;
            pairs.softmax_step({scores.data(),
                                keys,
                                1.0f,
                                expected_max.data(),
                                expected_sum.data(),
                                rescale.data(),
                                expected_weights.data(),
                                {}});
            pairs.multiply(product(expected_scores, kRows), 1.0f);
            pairs.rescale_and_multiply(product(expected_added, kAddedRows), floats(kLanes, 1.0f).data());
            pairs.softmax_step({scores.data(),
                                keys,
                                1.0f,
                                max.data(),
                                sum.data(),
                                rescale.data(),
                                weights.data(),
                                {{product(scores, kRows), {}}, product(added, kAddedRows)}});
            auto const same = [](Floats const& x, Floats const& y) {
                return std::ranges::equal(x, y, [](float one, float other) {
                    return one == other || (std::isnan(one) && std::isnan(other));
                });
            };
            CHECK(weights == expected_weights);
            CHECK((same(max, expected_max) && same(sum, expected_sum) && std::isnan(max[7])));
            CHECK((same(scores, expected_scores) && same(added, expected_added)));
        }
    });
}

TEST_CASE("softmax with pairs has NaN where softmax without has it") {
    for_each_set([](cpu::Kernels const& kernels, cpu::PairKernels const& pairs) {
        for (float const bad : {kNan, INFINITY}) {
            Floats tile = random_numbers(3 * kLanes, 1), max = floats(kLanes, 0.5f), sum = max, rescale = max;
            for (std::int64_t const lane : {0, 17, 31}) tile[index(kLanes + lane)] = bad;
            max[2] = sum[2] = kNan;  // from an earlier step
            Floats expected = tile, expected_max = max, expected_sum = sum;
            kernels.softmax_step(expected.data(), 3, expected_max.data(), expected_sum.data(), rescale.data());
            Pairs weights(index(cpu::kMostTileKeys / 2 * kLanes));
            pairs.softmax_step({tile.data(), 3, 1.0f, max.data(), sum.data(), rescale.data(), weights.data(), {}});
            for (std::int64_t lane = 0; lane < kLanes; ++lane) {
                CAPTURE(lane, max[index(lane)], expected_max[index(lane)]);
                bool const is_nan = std::isnan(expected_max[index(lane)]);
                CHECK(std::isnan(max[index(lane)]) == is_nan);
                CHECK((is_nan || max[index(lane)] == expected_max[index(lane)]));
                CHECK(std::isnan(sum[index(lane)]) == std::isnan(expected_sum[index(lane)]));
            }
        }
    });
}
