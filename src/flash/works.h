// The work on rows that a call has beside its plan.
#pragma once

#include "calls/row_work.h"
#include "flash/scratch.h"

namespace sdpa_graph::flash {

// A call on the way: what its works are made of.
struct Run {
    Call const& call;
    Shapes const& shapes;
    Sizes const& sizes;
    Scratch const& scratch;
};

// Whether the graph reads and writes log-sum-exps in the caller's memory.
bool has_log_sums_in_place(Run const& run);
// Whether every query sees a key, and in a packed call every key a query, as far as that is known without the lengths.
bool sees_everywhere(Run const& run);

fe::rows::Work start_forward(Run const& run);
fe::rows::Work end_forward(Run const& run);
fe::rows::Work write_probabilities(Run const& run);
fe::rows::Work start_backward(Run const& run);
fe::rows::Work end_backward(Run const& run);
fe::rows::Work write_softmax_d(Run const& run);

// The results of queries that have no keys, and of keys that have no queries, in a call where there is nothing else.
fe::rows::Work write_unseeing_rows(Call const& call, Sizes const& sizes);
fe::rows::Work write_gradients_of_nothing(Call const& call, Sizes const& sizes);

// Has it done by whoever the call names, else by a host or a GPU, wherever the tensors are.
error_t work(Call const& call, calls::Lease const& lease, fe::rows::Work const& work);

}  // namespace sdpa_graph::flash
