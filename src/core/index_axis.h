// The index that a value of a score modifier is: asked of the nodes that a program writes and of the operations that
// are made of them.
#pragma once

#include <cudnn_frontend/types.h>

#include <cstdint>

namespace cudnn_frontend::core {

// The pointwise step that writes a value.
template <class Id>
struct PointwiseStep {
    PointwiseMode_t mode = PointwiseMode_t::NOT_SET;  // also of a value that no such step writes
    std::int64_t axis = -1;                           // of GEN_INDEX
    Id first{}, second{};
};

constexpr int kMostIndexSums = 6;  // that are followed: their paths double with each

// The axis of the index that the value is, to which anything but an index may have been added; -1 of all else.
// step_of(value) gives the step that writes it.
template <class Id, class StepOf>
std::int64_t index_axis(Id value, StepOf const& step_of, int most_sums = kMostIndexSums) {
    PointwiseStep<Id> const step = step_of(value);
    if (step.mode == PointwiseMode_t::GEN_INDEX) return step.axis;
    bool const is_sum = step.mode == PointwiseMode_t::ADD || step.mode == PointwiseMode_t::SUB;
    if (!is_sum || most_sums == 0 || index_axis(step.second, step_of, most_sums - 1) >= 0) return -1;
    return index_axis(step.first, step_of, most_sums - 1);
}

}  // namespace cudnn_frontend::core
