// The memory that a run needs in addition to the caller's tensors: scratch in one piece, and results that were not
// passed.
#pragma once

#include "calls/result_memory.h"
#include "flash/shapes.h"

namespace sdpa_graph::flash {

// The call as one that asks for memory.
calls::Asker asker_of(Call const& call);

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

}  // namespace sdpa_graph::flash
