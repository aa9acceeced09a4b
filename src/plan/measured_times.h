// The times of plans, and the plan that runs because of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace cudnn_frontend::plan {

// Microseconds per run of one plan, for each round of runs; there is at least one round.
struct MeasuredTimes {
    std::vector<double> rounds;

    double median() const {
        std::vector<double> sorted = rounds;
        std::ranges::sort(sorted);
        return sorted[sorted.size() / 2];
    }
    double least() const { return std::ranges::min(rounds); }
};

// The index of the fastest plan by medians, or that of the usual one where the times do not differ by more than they do
// from round to round: half of the rounds of another plan have to be faster than every round of the usual one.
inline std::size_t plan_to_prefer(std::vector<MeasuredTimes> const& plans, std::size_t usual) {
    auto const fastest = std::ranges::min_element(plans, {}, &MeasuredTimes::median);
    bool const is_clear = fastest->median() < plans[usual].least();
    return is_clear ? static_cast<std::size_t>(fastest - plans.begin()) : usual;
}

}  // namespace cudnn_frontend::plan
