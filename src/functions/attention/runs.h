// The plan of a call, and the memory and the work on rows that a run of it needs in addition.
#pragma once

#include "calls/plan_choice.h"
#include "calls/result_memory.h"
#include "functions/attention/shapes.h"
#include "rows/worker.h"

namespace sdpa_graph::attention {

// The plan of a call, with the form for which it was made.
struct Chosen : calls::ChosenPlan<Shapes> {
    Form form;
};

// A plan of the call's class where the place's policy wants one and there is one, a plan for all shapes where it wants
// that, else the plan of its exact shapes. With AUTO on a GPU whichever of these is there and serves the call best.
fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, calls::Lease const& lease);

// The memory that a run needs in addition to the caller's tensors, in one piece.
class Scratch {
   public:
    // Includes a workspace of that many bytes for the plan.
    static fe::Result<Scratch> make(Call const& call, Shapes const& shapes, std::int64_t workspace);

    void* workspace() const { return at(workspace_); }
    int* lengths_q() const { return static_cast<int*>(at(lengths_q_)); }
    int* lengths_kv() const { return static_cast<int*>(at(lengths_kv_)); }
    long long* starts(Argument argument) const {
        return static_cast<long long*>(at(starts_[static_cast<std::size_t>(argument)]));
    }

   private:
    void* at(std::int64_t offset) const { return static_cast<std::byte*>(memory_.data()) + offset; }

    calls::Workspace memory_;
    std::int64_t workspace_ = 0, lengths_q_ = 0, lengths_kv_ = 0;
    std::array<std::int64_t, kArguments> starts_{};
};

struct Run {
    Call const& call;
    Sizes const& sizes;
    Form const& form;
    Shapes const& shapes;
    Scratch const& scratch;
};

// Whether the graph reads lengths or tables that the caller does not pass.
bool needs_tables(Run const& run);
fe::rows::Work write_tables(Run const& run);

// Zeros in rows of results that a graph in slots does not write; nothing if there are none.
fe::rows::Work clear_padding(Run const& run);

}  // namespace sdpa_graph::attention
