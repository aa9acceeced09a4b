// The training step with which options are tested: its gradients are the slopes of its results.
#include "support/small_training.h"

#include <cmath>

using namespace test::training;

namespace {

constexpr auto kPlain = [](auto&, auto const&) {};

// The sum of O times dO, whose gradients backward gives, with one number of an input changed.
double loss(fe::Target const& target, Uid input, std::size_t at, float change) {
    Step step(target, Numbers(kRows));
    step[input][at] += change;
    step.run(kPlain);
    double sum = 0.0;
    for (std::size_t i = 0; i < kCount; ++i) sum += double{step[O][i]} * double{step[DO][i]};
    return sum;
}

}  // namespace

TEST_CASE("the gradients of the small training step are slopes", "[small_training]") {
    fe::Target const target = GENERATE(fe::Target::reference(), fe::Target::cpu());
    auto const results = train(target, Numbers(kRows), kPlain);
    constexpr float kChange = 1.0f / 64.0f;
    for (auto const& [input, gradient] : {std::pair(Q, results[2]), {K, results[3]}, {V, results[4]}}) {
        for (std::size_t const at : {0, 9, 38, 63}) {
            CAPTURE(input, at);
            double const slope = (loss(target, input, at, kChange) - loss(target, input, at, -kChange)) / (2 * kChange);
            CHECK(std::abs(slope - double{gradient[at]}) < 2e-3);
        }
    }
    CHECK(std::abs(results[2][0]) + std::abs(results[3][9]) > 0.02f);
}

TEST_CASE("a bias of the small training step is read by forward and backward", "[small_training]") {
    Numbers bias(kRows * kRows);
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<float>(i % 5) / 2.0f;
    fe::Target const target = fe::Target::cpu();
    auto const plain = train(target, bias, kPlain);
    auto const biased = train(target, bias, [](auto& options, auto const& tensor) { options.set_bias(tensor(kRows)); });
    for (std::size_t r = 0; r < plain.size(); ++r) CHECK(largest_difference(plain[r], biased[r]) > 0.01f);
}
