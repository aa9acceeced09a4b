// Where and how the functions over tensor views run, and the allocator of memory that the caller does not pass.
#pragma once

#include "tensor_view.h"

#include <cudnn_frontend/target.h>
#include <cudnn_frontend/types.h>

#include <cstdint>
#include <optional>

struct CUstream_st;

namespace sdpa_graph {

// The source of results that are not given, and of scratch memory. The view says everything except the address; the
// name is that of the result, or "workspace". Null means that there is no memory. The memory is the caller's,
// starts at a multiple of 16 bytes, and is used until the call returns or, on a GPU, until its work is done.
struct Allocator {
    void* (*allocate)(void* context, char const* name, Tensor_view const& wanted) = nullptr;
    void* context = nullptr;
};

// The calls that a plan serves.
using Shape_policy = cudnn_frontend::ShapePolicy_t;

// Where a call runs. Without a target, tensors on a CPU run on Target::cpu(), and those on a GPU with the engines of
// Target::cuda(), on the stream and the current device, with a handle that the library keeps for it. A handle that is
// given as a target has a stream of its own, and the one here is ignored.
struct Place {
    std::optional<cudnn_frontend::Target> target;
    CUstream_st* stream = nullptr;
    Allocator allocator;
    std::optional<Shape_policy> shape_policy;  // else the process's, or AUTO
    // Neighborhood attention gives the same bits in every run, and the calls of other functions with AUTO keep to one
    // plan.
    bool is_deterministic = false;
};

// The plans of the functions over tensors in this process.
struct Plan_counts {
    std::int64_t built = 0;   // including those that could not be made
    std::int64_t found = 0;   // calls whose plan was there
    std::int64_t loaded = 0;  // from the plan store: plan_store.h
};
SDPA_GRAPH_API Plan_counts plan_counts() noexcept;

}  // namespace sdpa_graph
