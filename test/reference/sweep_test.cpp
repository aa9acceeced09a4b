// The library against the oracle over random combinations of options, shapes, layouts and data types.
#include "reference/cases/random_case.h"
#include "reference/checks/check_case.h"
#include "reference/checks/named_kernels.h"
#include "support/catch.h"
#include "support/skip.h"

#include <cstdlib>
#include <functional>
#include <map>

namespace {

using cudnn_frontend::DataType_t;
using sdpa_test::AttentionCase;
using sdpa_test::Layout;
using sdpa_test::Target;

constexpr std::uint64_t kCasesPerTest = 300;
constexpr std::uint64_t kTests = 8;

void check(AttentionCase const& c, Target const& target) {
    std::string const faults = sdpa_test::check_case(c, target);
    INFO("case: " << sdpa_test::describe(c));
    INFO("target: " << cudnn_frontend::to_string(target.kind()));
    CHECK(faults == "");
}

void check(std::uint64_t index, Target const& target) {
    INFO("reproduce: SDPA_SWEEP_CASE=" << index << " sweep_test '[replay]'");
    check(sdpa_test::random_case(index), target);
}

void check_wild(std::uint64_t index, Target const& target) {
    INFO("wild case " << index);
    check(sdpa_test::random_wild_case(index), target);
}

Target on_cpu(std::uint64_t index) { return Target::cpu(1 + static_cast<int>(index % 2)); }

void sweep(std::uint64_t part, void (*check_one)(std::uint64_t, Target const&)) {
    for (std::uint64_t index = part * kCasesPerTest; index < (part + 1) * kCasesPerTest; ++index) {
        check_one(index, Target::reference());
        check_one(index, on_cpu(index));
    }
}

void sweep(std::uint64_t part) { sweep(part, check); }
void sweep_wild(std::uint64_t part) { sweep(part, check_wild); }

bool are_other_halves(DataType_t a, DataType_t b) {
    return (a == DataType_t::HALF && b == DataType_t::BFLOAT16) || (a == DataType_t::BFLOAT16 && b == DataType_t::HALF);
}

void check_frequent(std::map<std::string, std::function<bool(AttentionCase const&)>> const& features) {
    for (auto const& [name, has] : features) {
        int count = 0;
        for (std::uint64_t index = 0; index < kTests * kCasesPerTest; ++index)
            count += has(sdpa_test::random_case(index));
        INFO(name);
        CHECK(count >= 20);
    }
}

}  // namespace

// One test for each part, so that they run in parallel.
TEST_CASE("sweep part 1 of 8") { sweep(0); }
TEST_CASE("sweep part 2 of 8") { sweep(1); }
TEST_CASE("sweep part 3 of 8") { sweep(2); }
TEST_CASE("sweep part 4 of 8") { sweep(3); }
TEST_CASE("sweep part 5 of 8") { sweep(4); }
TEST_CASE("sweep part 6 of 8") { sweep(5); }
TEST_CASE("sweep part 7 of 8") { sweep(6); }
TEST_CASE("sweep part 8 of 8") { sweep(7); }

// One test for each part, as above.
TEST_CASE("sweep of infinities and NaN, part 1 of 2") { sweep_wild(0); }
TEST_CASE("sweep of infinities and NaN, part 2 of 2") { sweep_wild(1); }

// 8-bit attention is interpreted, without the kernels.
TEST_CASE("sweep with one instruction set", "[.][kernels]") {
    if (std::string const reason = sdpa_test::why_not_named_kernels(); !reason.empty()) return sdpa_test::skip(reason);
    constexpr std::uint64_t kCases = 500, kWildCases = 150;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        if (!sdpa_test::is_fp8(sdpa_test::random_case(index).type)) check(index, on_cpu(index));
    }
    for (std::uint64_t index = 0; index < kWildCases; ++index) check_wild(index, on_cpu(index));
}

TEST_CASE("packed sequences whose tensors lie in one buffer, by rows and by heads") {
    int alone = 0, together = 0;
    for (std::uint64_t index = 0; index < kCasesPerTest; ++index) {
        AttentionCase c = sdpa_test::random_case(index);
        if (!is_ragged(c.input_layout) || !is_ragged(c.output_layout)) continue;
        c.input_layout = c.output_layout = index % 2 == 0 ? Layout::RaggedPacked : Layout::RaggedHeads;
        for (Target const& target : {Target::reference(), Target::cpu()}) check(c, target);
        ++alone;
        if (c.paging) continue;
        c.h_k = c.h_v = c.h_q, c.s_kv = c.s_q, c.len_kv = c.len_q, c.d_v = c.d_qk;
        c.bias.reset(), c.mask.reset(), c.d_bias = false;
        if (c.dropout == sdpa_test::Dropout::Mask) c.dropout = sdpa_test::Dropout::None;
        for (Target const& target : {Target::reference(), Target::cpu()}) check(c, target);
        ++together;
    }
    CHECK(alone >= 20);
    CHECK(together >= 15);
}

TEST_CASE("replay one case of the sweep", "[.][replay]") {
    char const* const index = std::getenv("SDPA_SWEEP_CASE");
    REQUIRE(index != nullptr);
    check(std::strtoull(index, nullptr, 10), Target::reference());
    check(std::strtoull(index, nullptr, 10), Target::cpu());
}

TEST_CASE("the sweep has at least 2000 cases and many of each shape, layout and type") {
    CHECK(kTests * kCasesPerTest >= 2000);
    check_frequent({
        {"one query", [](auto& c) { return c.s_q == 1; }},
        {"one key", [](auto& c) { return c.s_kv == 1; }},
        {"odd lengths", [](auto& c) { return c.s_q % 2 == 1 && c.s_kv % 2 == 1; }},
        {"more queries than keys", [](auto& c) { return c.s_q > c.s_kv; }},
        {"fewer queries than keys", [](auto& c) { return c.s_q < c.s_kv; }},
        {"several blocks", [](auto& c) { return c.s_q > 128 && c.s_kv > 128; }},
        {"one head", [](auto& c) { return c.h_q == 1; }},
        {"MQA", [](auto& c) { return c.h_q > 1 && c.h_k == 1 && c.h_v == 1; }},
        {"GQA", [](auto& c) { return c.h_k > 1 && c.h_k < c.h_q && c.h_v == c.h_k; }},
        {"K and V heads differ", [](auto& c) { return c.h_k != c.h_v; }},
        {"head dims differ", [](auto& c) { return c.d_qk != c.d_v; }},
        {"all packed", [](auto& c) { return c.input_layout == Layout::Packed && c.s_q == c.s_kv; }},
        {"SBHD", [](auto& c) { return c.input_layout == Layout::Sbhd; }},
        {"shared batch", [](auto& c) { return c.b > 1 && c.input_layout == Layout::Shared; }},
        {"gaps", [](auto& c) { return c.output_layout == Layout::Gaps; }},
        {"ragged", [](auto& c) { return is_ragged(c.input_layout) && is_ragged(c.output_layout); }},
        {"ragged inputs alone", [](auto& c) { return is_ragged(c.input_layout) && !is_ragged(c.output_layout); }},
        {"ragged outputs alone", [](auto& c) { return !is_ragged(c.input_layout) && is_ragged(c.output_layout); }},
        {"ragged, stats dense", [](auto& c) { return is_ragged(c.output_layout) && c.stats_layout == Layout::Bhsd; }},
        {"dense, stats ragged",
         [](auto& c) { return !is_ragged(c.output_layout) && c.stats_layout == Layout::Ragged; }},
        {"ragged, offsets in rows", [](auto& c) { return is_ragged(c.input_layout) && c.offsets_in_rows; }},
        {"ragged in slots", [](auto& c) { return c.input_layout == Layout::RaggedSlots; }},
        {"ragged, bounded rows",
         [](auto& c) {
             return is_ragged(c.output_layout) && c.bounds_rows && c.has_backward() && c.d_qk % 16 == 0 &&
                    c.d_v % 16 == 0;
         }},
        {"K and V in pages", [](auto& c) { return c.paging.k_rows > 0 && c.paging.v_rows > 0; }},
        {"K alone or V alone in pages",
         [](auto& c) { return c.paging && (c.paging.k_rows == 0 || c.paging.v_rows == 0); }},
        {"packed page tables", [](auto& c) { return c.paging && c.paging.packed_tables; }},
        {"wide page tables", [](auto& c) { return c.paging && c.paging.wide_tables; }},
        {"pages, queries ragged", [](auto& c) { return c.paging && is_ragged(c.input_layout); }},
        {"pages, length not stated", [](auto& c) { return c.paging && !c.paging.states_length; }},
        {"HALF", [](auto& c) { return c.type == cudnn_frontend::DataType_t::HALF; }},
        {"BFLOAT16", [](auto& c) { return c.type == cudnn_frontend::DataType_t::BFLOAT16; }},
        {"results in FLOAT", [](auto& c) { return c.type != c.result_type; }},
        {"results in the other half type", [](auto& c) { return are_other_halves(c.type, c.result_type); }},
        {"bias of the other half type", [](auto& c) { return c.bias && are_other_halves(c.type, c.bias_type); }},
    });
}

TEST_CASE("the sweep has many of each option") {
    check_frequent({
        {"scalars by value", [](auto& c) { return c.scalars_by_value; }},
        {"block mask", [](auto& c) { return c.block_mask; }},
        {"block mask and a score modifier",
         [](auto& c) { return c.block_mask && c.modifier != oracle::Modify::Nothing; }},
        {"no stats", [](auto& c) { return !c.generate_stats; }},
        {"bias", [](auto& c) { return c.bias.has_value(); }},
        {"dBias", [](auto& c) { return c.d_bias; }},
        {"dBias of other dims than the bias",
         [](auto& c) { return c.d_bias && c.d_bias_dim && c.d_bias_dim != c.bias; }},
        {"bias that is not packed", [](auto& c) { return c.bias && c.scores_layout; }},
        {"dropout mask that is not packed", [](auto& c) { return c.mask && c.scores_layout; }},
        {"-inf in the bias", [](auto& c) { return c.bias_infinities != sdpa_test::Infinities::None; }},
        {"very negative rows", [](auto& c) { return c.bias_shift < 0.0; }},
        {"sink", [](auto& c) { return c.sink.has_value(); }},
        {"sink of Q's type", [](auto& c) { return c.sink && *c.sink != cudnn_frontend::DataType_t::FLOAT; }},
        {"dSink", [](auto& c) { return c.d_sink; }},
        {"sink and lengths", [](auto& c) { return c.sink && c.len_q; }},
        {"sink and stale padding", [](auto& c) { return c.sink && c.stale_padding; }},
        {"max", [](auto& c) { return c.logit_max && !c.score_sum_exp; }},
        {"sum_exp", [](auto& c) { return c.score_sum_exp && !c.logit_max; }},
        {"max and sum_exp", [](auto& c) { return c.logit_max && c.score_sum_exp; }},
        {"alibi", [](auto& c) { return c.alibi; }},
        {"lengths", [](auto& c) { return c.len_q.has_value(); }},
        {"ragged offsets apart", [](auto& c) { return c.numbers_apart && is_ragged(c.input_layout); }},
        {"sink apart", [](auto& c) { return c.numbers_apart && c.sink; }},
        {"lengths as sums", [](auto& c) { return c.sums_of_lengths; }},
        {"lengths as 64-bit sums",
         [](auto& c) { return c.sums_of_lengths && c.offset_type == cudnn_frontend::DataType_t::INT64; }},
        {"lengths as sums, ragged", [](auto& c) { return c.sums_of_lengths && is_ragged(c.input_layout); }},
        {"NaN in padding", [](auto& c) { return c.nan_in_padding; }},
        {"NaN in padding and a bias", [](auto& c) { return c.nan_in_padding && c.bias; }},
        {"NaN in padding and a dropout mask", [](auto& c) { return c.nan_in_padding && c.mask; }},
        {"NaN in padding and dSink", [](auto& c) { return c.nan_in_padding && c.d_sink; }},
        {"NaN in padding and dBias", [](auto& c) { return c.nan_in_padding && c.d_bias; }},
        {"left bound", [](auto& c) { return c.left && !c.right; }},
        {"right bound", [](auto& c) { return c.right && !c.left; }},
        {"band at the bottom right",
         [](auto& c) { return c.left && c.right && c.alignment == cudnn_frontend::DiagonalAlignment_t::BOTTOM_RIGHT; }},
        {"dropout", [](auto& c) { return c.dropout == sdpa_test::Dropout::Probability; }},
        {"dropout mask", [](auto& c) { return c.dropout == sdpa_test::Dropout::Mask; }},
        {"dropout mask exchanged with its scale", [](auto& c) { return c.mask && c.exchanged_mask; }},
        {"stats in base 2", [](auto& c) { return c.generate_stats && c.stats_use_log2; }},
        {"stats in base 2 and a sink", [](auto& c) { return c.stats_use_log2 && c.d_sink; }},
        {"scale on the device", [](auto& c) { return c.scale == sdpa_test::Scale::Device; }},
        {"deterministic", [](auto& c) { return c.deterministic; }},
    });
}

TEST_CASE("the sweep has many of each option of 8-bit attention") {
    using sdpa_test::is_fp8;
    check_frequent({
        {"FP8_E4M3", [](auto& c) { return c.type == cudnn_frontend::DataType_t::FP8_E4M3; }},
        {"FP8_E5M2", [](auto& c) { return c.type == cudnn_frontend::DataType_t::FP8_E5M2; }},
        {"FP8 and lengths", [](auto& c) { return is_fp8(c.type) && c.len_q; }},
        {"FP8 and a band", [](auto& c) { return is_fp8(c.type) && (c.left || c.right); }},
        {"FP8 and grouped heads", [](auto& c) { return is_fp8(c.type) && c.h_k < c.h_q; }},
        {"FP8 and dropout", [](auto& c) { return is_fp8(c.type) && c.dropout != sdpa_test::Dropout::None; }},
        {"FP8 and wider results", [](auto& c) { return is_fp8(c.type) && !is_fp8(c.result_type); }},
        {"FP8 with odd factors", [](auto& c) { return is_fp8(c.type) && c.odd_factors; }},
    });
}
