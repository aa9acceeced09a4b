// The base of a row's weights in forward, which moves where scores are far above it.
#include "kernel_cases.h"
#include "support/catch.h"
#include "unit/kernels/host/cuda_words.h"

#include <hopper/greatest_scores.cuh>

#include <cmath>
#include <limits>

using namespace sdpa_test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float greatest_of(float const (&row)[4]) {
    float const scores[2][4] = {{row[0], row[1], -1, -1}, {row[2], row[3], -1, 5}};
    float greatest[2];
    find_greatest(greatest, scores);
    CHECK(greatest[1] == 5);
    return greatest[0];
}

}  // namespace

TEST_CASE("the greatest score of a row is found by its bits, and is 0 where all are negative") {
    CHECK(greatest_of({-3, 2.5f, 2, -7}) == 2.5f);
    CHECK(greatest_of({0.001f, -1e30f, -kInfinity, 0.0005f}) == 0.001f);
    CHECK(greatest_of({-3, -2.5f, -2, -7}) == 0);
    CHECK(greatest_of({-kInfinity, -kInfinity, -kInfinity, -kInfinity}) == 0);
    CHECK(greatest_of({1, kInfinity, 2, -kInfinity}) == kInfinity);
    CHECK(greatest_of({-0.0f, 1e-40f, -1e-40f, 0}) == 1e-40f);
    float const nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(greatest_of({1, nan, kInfinity, 2})));
    CHECK(greatest_of({1, -nan, 3, 2}) == 3);
}

TEST_CASE("weights follow scores that differ by hundreds from tile to tile, from negative to positive") {
    for (Columns const& columns : {Columns{64, 64}, Columns{128, 128}, Columns{192, 128}, Columns{256, 256}}) {
        for (float const scale : {1.0f, 40.0f}) {
            AttentionCase c = plain_case(scale > 1 ? DataType_t::BFLOAT16 : DataType_t::HALF, columns);
            c.h_q = 2;
            c.s_q = 200;
            c.s_kv = 700;
            c.scale_value = scale;
            INFO(columns.d_qk << " columns, scale " << scale);
            CHECK(check_case(c, rig_of_kernel()).faults() == "");
            c.right = 0;  // the first tile of a row may have few keys, with negative scores alone
            CHECK(check_case(c, rig_of_kernel()).faults() == "");
        }
    }
}
