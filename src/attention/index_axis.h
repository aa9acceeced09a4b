// The index that a value of a score modifier holds: found in the nodes that a program writes, and in the operations
// that they expand to.
#pragma once

#include <cudnn_frontend/types.h>

#include <cstdint>

namespace cudnn_frontend::attention {

// The pointwise step that writes a value.
template <class Id>
struct PointwiseStep {
    PointwiseMode_t mode = PointwiseMode_t::NOT_SET;  // also for a value that no such step writes
    std::int64_t axis = -1;                           // for GEN_INDEX
    Id first{}, second{};
};

constexpr int kMostIndexSums = 6;  // only so many are followed: each doubles the paths

// The axis of the index that the value holds, to which anything but another index may have been added; -1 for all other
// values. step_of(value) gives the step that writes a value.
template <class Id, class StepOf>
std::int64_t index_axis(Id value, StepOf const& step_of, int most_sums = kMostIndexSums) {
    PointwiseStep<Id> const step = step_of(value);
    if (step.mode == PointwiseMode_t::GEN_INDEX) return step.axis;
    bool const is_sum = step.mode == PointwiseMode_t::ADD || step.mode == PointwiseMode_t::SUB;
    if (!is_sum || most_sums == 0 || index_axis(step.second, step_of, most_sums - 1) >= 0) return -1;
    return index_axis(step.first, step_of, most_sums - 1);
}

}  // namespace cudnn_frontend::attention
