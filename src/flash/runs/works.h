// The work on rows that a call does in addition to its plan.
#pragma once

#include "calls/class_plan.h"
#include "calls/row_work.h"
#include "flash/runs/run_memory.h"

namespace sdpa_graph::flash {

// A call that runs: the inputs of its works.
struct Run {
    Call const& call;
    Shapes const& shapes;
    Sizes const& sizes;
    Scratch const& scratch;
};

// Whether the graph reads and writes log-sum-exps in the caller's memory.
bool has_log_sums_in_place(Run const& run);
// Whether every query sees a key, and in a packed call every key is visible to a query, as far as that is known without
// the lengths.
bool sees_everywhere(Run const& run);

fe::rows::Work start_forward(Run const& run);
fe::rows::Work end_forward(Run const& run);
fe::rows::Work write_probabilities(Run const& run);
fe::rows::Work start_backward(Run const& run);
fe::rows::Work end_backward(Run const& run);
fe::rows::Work write_softmax_d(Run const& run);

// The results of queries that have no keys, and of keys that have no queries, in a call that has no others.
fe::rows::Work write_unseeing_rows(Call const& call, Sizes const& sizes);
fe::rows::Work write_gradients_of_nothing(Call const& call, Sizes const& sizes);

// The work is done by the call's worker, else by the host or the GPU that has the tensors.
error_t work(Call const& call, calls::Lease const& lease, fe::rows::Work const& work);

// The tensors that both passes read, bound to the plan of the call's class.
calls::Pack inputs_of(Run const& run);

}  // namespace sdpa_graph::flash
