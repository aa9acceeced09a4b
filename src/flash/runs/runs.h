// Runs of calls that were checked: the memory that they need, and the work on rows that they do, in addition to the
// plan.
#pragma once

#include "calls/plan_choice.h"
#include "calls/result_memory.h"
#include "calls/row_work.h"
#include "flash/call.h"
#include "flash/shapes.h"

namespace sdpa_graph::flash {

error_t run_forward(Call& call, Forward_results& results);
error_t run_backward(Call& call, Backward_results& results);

using Chosen = calls::ChosenPlan<Shapes>;

// With AUTO on a GPU: a plan for the call's exact shapes if there is one, else that of its class. With CLASSES: the
// plan of its class. Otherwise the plan of its shapes, which ALL_SHAPES resizes from that of the call's kind.
fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, calls::Lease const& lease);

// The memory that a run needs in addition to the caller's tensors: scratch in one piece, and results that were not
// passed.

// The call as one that asks for memory.
calls::AllocationRequest allocation_request_of(Call const& call);

// If a result was not passed, gets memory for it from the allocator, as `made`, and makes it the call's argument.
error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& made);

// The view of the argument as a result, or a view without memory. In most calls programs pass the result itself.
void take(Call const& call, Argument argument, Tensor_view& result);

// The scratch, in one piece.
class Scratch {
   public:
    // Includes a workspace of that many bytes for the plan.
    static fe::Result<Scratch> make(Call const& call, Shapes const& shapes, Sizes const& sizes, std::int64_t workspace);

    void* workspace() const { return at(workspace_); }
    // The lengths of packed sequences.
    int* lengths_q() const { return static_cast<int*>(at(lengths_q_)); }
    int* lengths_k() const { return static_cast<int*>(at(lengths_k_)); }
    int* squares() const { return static_cast<int*>(at(squares_)); }  // if the shapes have squares apart
    long long* starts(std::size_t number) const { return static_cast<long long*>(at(starts_[number])); }
    int* table() const { return static_cast<int*>(at(table_)); }
    void* log_sums() const { return at(log_sums_); }  // in the order of the graph
    void* q() const { return at(q_); }                // queries that are gathered
    void* out() const { return at(out_); }
    // Used if the softmax is returned.
    float* kept() const { return static_cast<float*>(at(kept_)); }

   private:
    void* at(std::int64_t offset) const { return static_cast<std::byte*>(memory_.data()) + offset; }

    calls::Workspace memory_;
    std::int64_t workspace_ = 0, lengths_q_ = 0, lengths_k_ = 0, squares_ = 0, table_ = 0, log_sums_ = 0, q_ = 0,
                 out_ = 0, kept_ = 0;
    std::array<std::int64_t, fe::rows::kMostOffsets> starts_{};
};

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

// The tensors that both passes read, bound to the call's plan.
calls::Pack inputs_of(Run const& run);

}  // namespace sdpa_graph::flash
