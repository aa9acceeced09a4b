// The times of plans, and the plan that runs because of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudnn_frontend::plan {

// Microseconds per run of one plan.
struct MeasuredTimes {
    double median = 0.0, least = 0.0, greatest = 0.0;
    std::int64_t runs = 0;

    // At least one run.
    static MeasuredTimes of(std::vector<double> runs) {
        std::ranges::sort(runs);
        return {runs[runs.size() / 2], runs.front(), runs.back(), static_cast<std::int64_t>(runs.size())};
    }

    friend bool operator==(MeasuredTimes const&, MeasuredTimes const&) = default;
};

// The index of the fastest plan by medians, or that of the usual one where the times do not differ by more than they do
// from run to run: half of the runs of another plan have to be faster than every run of the usual one.
inline std::size_t plan_to_prefer(std::vector<MeasuredTimes> const& plans, std::size_t usual) {
    auto const fastest = std::ranges::min_element(plans, {}, &MeasuredTimes::median);
    bool const is_clear = fastest->median < plans[usual].least;
    return is_clear ? static_cast<std::size_t>(fastest - plans.begin()) : usual;
}

}  // namespace cudnn_frontend::plan
