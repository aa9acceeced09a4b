// The scores of a row in forward: those outside of its band, and the base of its weights, which moves where scores are
// far above it.
#include "kernel_cases.h"
#include "support/catch.h"
#include "unit/kernels/host/cuda_words.h"

#include <attention/attention_tiles.cuh>
#include <hopper/greatest_scores.cuh>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

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

// Whether set_outside() sets what comparisons of columns say, for the lanes of one row.
template <int COUNT>
bool sets_outside(RowRange const& range, int first) {
    for (threadIdx.x = 0; threadIdx.x < 4; ++threadIdx.x) {
        float elements[COUNT][4] = {};
        set_outside(elements, {range, {0, first + 8 * COUNT}}, first, 1.0f);
        for (int i = 0; i < COUNT; ++i) {
            for (int j = 0; j < 2; ++j) {
                int const column = first + 8 * i + 2 * static_cast<int>(threadIdx.x) + j;
                bool const is_outside = column < range.begin || column >= range.end;
                if ((elements[i][j] == 1) != is_outside || elements[i][2 + j] != 0) return false;
            }
        }
    }
    return true;
}

}  // namespace

TEST_CASE("scores outside of a row's range are set, whatever its ends are") {
    constexpr int kFirst = 256, kFar = 1 << 30;
    std::vector<int> ends{-kFar, 0, kFar};
    for (int end = kFirst - 3; end <= kFirst + 8 * 16 + 3; ++end) ends.push_back(end);
    for (int const begin : ends) {
        for (int const end : ends) {
            INFO(begin << " to " << end);
            REQUIRE(sets_outside<4>({begin, end}, kFirst));
            REQUIRE(sets_outside<8>({begin, end}, kFirst));
            REQUIRE(sets_outside<10>({begin, end}, kFirst));
            REQUIRE(sets_outside<16>({begin, end}, kFirst));
        }
    }
    threadIdx.x = 0;
}

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

TEST_CASE("weights follow capped scores that differ by hundreds, in their short form") {
    for (Columns const& columns : {Columns{64, 64}, Columns{192, 128}, Columns{256, 256}}) {
        AttentionCase c = plain_case(DataType_t::HALF, columns);
        c.s_q = 100;
        c.s_kv = 700;
        c.scale_value = 400.0f;
        c.modifier = oracle::Modify::Softcap;
        c.modifier_number = 1e6f;
        INFO(columns.d_qk << " columns");
        CHECK(check_case(c, rig_of_kernel()).faults() == "");
    }
}

TEST_CASE("scores that are negative multiples of products have no short form") {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {64, 64});
    c.s_q = 100;
    c.s_kv = 300;
    c.scale_value = 20.0f;
    c.modifier = oracle::Modify::Softcap;
    c.modifier_number = 1e4f;
    auto const negate_queries = [](auto const& problem, void* start) {
        auto const& dims = problem.operand(cudnn_frontend::attention::Q).dims;
        auto* const numbers = static_cast<std::uint16_t*>(start);
        for (std::int64_t i = 0; i < dims[0] * dims[1] * dims[2] * dims[3]; ++i) numbers[i] ^= 0x8000;
    };
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) {
        void* queries = nullptr;
        return run_by_kernel(
            session,
            [&](auto const& problem, auto) {
                if (queries != nullptr) negate_queries(problem, queries);
            },
            [&](auto& problem, std::vector<void*>& pointers) {
                if (problem.is_backward) return;
                problem.scale = -problem.scale;
                queries = pointers[problem.operand(cudnn_frontend::attention::Q).pointer];
                negate_queries(problem, queries);
            });
    };
    CHECK(check_case(c, rig).forward.faults == "");
}
