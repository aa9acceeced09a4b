// The expected times of attention, by figures that are easy to calculate with.
#include "kernels/attention/attention_costs.h"
#include "support/catch.h"

#include <cmath>
#include <optional>

using namespace cudnn_frontend;
using kernels::AttentionKernelProblem;

namespace {

constexpr int kMultiprocessors = 100;
constexpr double kStart = 5;

struct Sizes {
    std::int64_t batches, heads, key_heads, rows, columns;
};

AttentionKernelProblem forward_of(Sizes const& sizes, bool is_causal) {
    auto const matrix = [&](std::int64_t heads) {
        kernels::PlacedOperand operand;
        operand.dims = {sizes.batches, heads, sizes.rows, sizes.columns};
        operand.strides = {heads * sizes.rows * sizes.columns, sizes.rows * sizes.columns, sizes.columns, 1};
        operand.type = DataType_t::BFLOAT16;
        return operand;
    };
    AttentionKernelProblem problem;
    problem.operands[attention::Q] = matrix(sizes.heads);
    problem.operands[attention::K] = problem.operands[attention::V] = matrix(sizes.key_heads);
    if (is_causal) problem.right = 0;
    return problem;
}

AttentionKernelProblem backward_of(Sizes const& sizes, bool is_causal) {
    AttentionKernelProblem problem = forward_of(sizes, is_causal);
    problem.is_backward = true;
    return problem;
}

kernels::AttentionRates rates() {
    return {
        {"128_forward", {2, 3}}, {"128_backward", {4, 10}}, {"128_deterministic", {5, 20}}, {"64_backward", {6, 7}}};
}

std::optional<double> cost_of(AttentionKernelProblem const& problem) {
    return attention_cost(problem, rates(), kStart, kMultiprocessors);
}

}  // namespace

TEST_CASE("forward takes whole rounds of equal tiles, and shares those of a causal mask out") {
    Sizes const sizes{1, 8, 8, 8192, 128};  // 512 tiles of 128 queries, which have 64 blocks of 128 keys
    CHECK(*cost_of(forward_of(sizes, false)) == Approx(kStart + 6 * (64 * 2 + 3)));
    CHECK(*cost_of(forward_of(sizes, true)) == Approx(kStart + 512 * (32.5 * 2 + 3) / kMultiprocessors));
    AttentionKernelProblem uneven = forward_of({1, 8, 8, 8192 + 1, 128}, true);  // one more tile, of 65 blocks
    CHECK(*cost_of(uneven) == Approx(kStart + 8 * ((64 * 32.5 + 65) * 2 + 65 * 3) / kMultiprocessors));
}

TEST_CASE("gradients take three kernels, and tiles of keys have the queries of all heads that share them") {
    Sizes const sizes{2, 16, 16, 2048, 128};  // 512 tiles of 128 keys, which have 32 blocks of 64 queries
    CHECK(*cost_of(backward_of(sizes, false)) == Approx(3 * kStart + 512 * (32 * 4 + 10) / 100.0));
    CHECK(*cost_of(backward_of(sizes, true)) == Approx(3 * kStart + 512 * (17 * 4 + 10) / 100.0));
    AttentionKernelProblem deterministic = backward_of(sizes, true);
    deterministic.is_deterministic = true;
    CHECK(*cost_of(deterministic) == Approx(3 * kStart + 512 * (17 * 5 + 20) / 100.0));
    // Tiles of 64 columns have blocks of 128 queries.
    CHECK(*cost_of(backward_of({2, 16, 16, 2048, 64}, false)) == Approx(3 * kStart + 512 * (16 * 6 + 7) / 100.0));
    Sizes const shared{4, 32, 8, 2048, 128};
    CHECK(*cost_of(backward_of(shared, true)) == Approx(3 * kStart + 512 * (4 * 17 * 4 + 10) / 100.0));
}

TEST_CASE("the time of attention is not known where tiles may have other blocks, or were not measured") {
    Sizes const sizes{1, 8, 8, 8192, 128};
    AttentionKernelProblem with_lengths = forward_of(sizes, true);
    with_lengths.key_lengths.emplace();
    CHECK_FALSE(cost_of(with_lengths));
    AttentionKernelProblem in_blocks = forward_of(sizes, false);
    in_blocks.operands[attention::BlockMask].emplace();
    CHECK_FALSE(cost_of(in_blocks));
    AttentionKernelProblem in_window = backward_of(sizes, true);
    in_window.left = 256;
    CHECK_FALSE(cost_of(in_window));
    CHECK_FALSE(cost_of(forward_of({1, 8, 8, 1024, 128}, true)));  // where other engines come first
    CHECK_FALSE(cost_of(forward_of({1, 8, 8, 8192, 64}, true)));
}
