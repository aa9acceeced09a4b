// The times of plans, and the plan that runs because of them.
#pragma once

#include <cstddef>
#include <vector>

namespace cudnn_frontend::plan {

// Microseconds per run of one plan, for each round of runs; there is at least one round.
struct MeasuredTimes {
    std::vector<double> rounds;

    double median() const;
    double least() const;
};

// The index of the fastest plan by medians, or that of the usual one where the times do not differ by more than they do
// from round to round: half of the rounds of another plan have to be faster than every round of the usual one.
std::size_t plan_to_prefer(std::vector<MeasuredTimes> const& plans, std::size_t usual);

}  // namespace cudnn_frontend::plan
