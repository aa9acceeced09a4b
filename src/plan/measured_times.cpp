#include "plan/measured_times.h"

#include <algorithm>

namespace cudnn_frontend::plan {

double MeasuredTimes::median() const {
    std::vector<double> sorted = rounds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
}

double MeasuredTimes::least() const { return std::ranges::min(rounds); }

std::size_t plan_to_prefer(std::vector<MeasuredTimes> const& plans, std::size_t usual) {
    auto const fastest = std::ranges::min_element(plans, {}, &MeasuredTimes::median);
    bool const is_clear = fastest->median() < plans[usual].least();
    return is_clear ? static_cast<std::size_t>(fastest - plans.begin()) : usual;
}

}  // namespace cudnn_frontend::plan
