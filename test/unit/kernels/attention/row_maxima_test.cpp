// The greatest score of each row, and the sum relative to it, as results of forward.
#include "kernel_cases.h"
#include "support/catch.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace sdpa_test;
namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

namespace {

// Forward with the greatest score of each row, or the sum relative to it, or both.
AttentionCase with_maxima(AttentionCase c) {
    Random random(c.seed + 2);
    c.d_qk = c.d_v = 64;
    c.bias.reset();
    c.d_bias_dim.reset();
    c.alibi = c.d_bias = c.rng_dump = false;
    c.modifier = oracle::Modify::Nothing;
    c.dropout = Dropout::None;
    c.logit_max = random.chance(0.7);
    c.score_sum_exp = !c.logit_max || random.flip();
    return c;
}

}  // namespace

TEST_CASE("forward makes the greatest score of each row, and the sum relative to it") {
    constexpr std::uint64_t kCases = 16;
    for (std::uint64_t seed = 0; seed < kCases; ++seed) {
        for (AttentionCase const& c : {random_kernel_case(seed), random_packed_case(seed)}) {
            AttentionCase const made = with_maxima(c);
            INFO("case " << seed << ": " << describe(made));
            CHECK(check_case(made, rig_of_kernel()).faults() == "");
        }
    }
}

TEST_CASE("a row with NaN among its scores has NaN as its greatest score, and others have not") {
    AttentionCase c = plain_case(DataType_t::BFLOAT16, {64, 64});
    c.s_q = c.s_kv = 70;
    c.logit_max = c.score_sum_exp = true;
    std::vector<float> greatest, sums;
    Rig rig = rig_of_kernel();
    rig.execute = [&](Session const& session) {
        auto const poison = [](auto const& problem, std::vector<void*>& pointers) {
            constexpr std::uint16_t kNan = 0x7fc0;
            *static_cast<std::uint16_t*>(pointers[problem.operand(fe::attention::Q).pointer]) = kNan;
        };
        auto const keep = [&](auto const& problem, kernels::Pointers pointers) {
            if (problem.is_backward) return;
            auto const rows_of = [&](fe::attention::Port port) {
                auto const* const rows = static_cast<float const*>(pointers[problem.operand(port).pointer]);
                return std::vector<float>(rows, rows + problem.queries());
            };
            greatest = rows_of(fe::attention::Max);
            sums = rows_of(fe::attention::SumExp);
        };
        return run_by_kernel(session, keep, poison);
    };
    check_case(c, rig);
    auto const is_nan = [](float number) { return std::isnan(number); };
    for (std::vector<float> const& numbers : {greatest, sums}) {
        REQUIRE(std::ssize(numbers) == c.s_q);
        CHECK(std::isnan(numbers.front()));
        CHECK(std::ranges::count_if(numbers, is_nan) == 1);
    }
}
