// Forward, then backward on the forward pass's own results, as in a training program.
#pragma once

#include "reference/checks/session.h"

namespace sdpa_test {

struct TrainingStep {
    std::string error;  // of the first call that failed; empty on success
    ForwardOutputs forward;
    BackwardOutputs backward;

    // O, stats, dQ, dK, dV, and other outputs that options request; not the dropout mask.
    std::vector<HostTensor> results() const;
};

// The case must generate stats.
TrainingStep training_step(AttentionCase const& c, Inputs const& inputs, Target const& target);
TrainingStep training_step(AttentionCase const& c, Target const& target);
// The same step with both graphs written to JSON and read back.
TrainingStep restored_training_step(AttentionCase const& c, Target const& target);

bool same_bits(TrainingStep const& a, TrainingStep const& b);
double largest_difference(HostTensor const& a, HostTensor const& b);  // elements infinite in both count as equal

}  // namespace sdpa_test
