// The memory that a run gets for each tensor, checked against what the graph says about it.
#pragma once

#include "graph.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

struct CUstream_st;

namespace binding {

using Pointers = std::unordered_map<std::int64_t, void*>;
using Objects = std::vector<py::object>;
using Sizes = std::vector<std::int64_t>;

struct Pack {
    std::vector<std::pair<std::int64_t, void*>> entries;
    std::vector<void*> in_order;  // of the graph's uids, where the pack has memory for all of these and no others
    Objects held;                 // with what they exported: while it runs, other threads may drop them
    Objects on_gpu;               // of those the ones that the stream reads or writes behind torch's back

    Pointers by_uid() const { return Pointers(entries.begin(), entries.end()); }
};

// Other dims and strides for the tensors of these uids; None stands for none.
struct Overrides {
    std::optional<Sizes> uids;
    std::optional<std::vector<Sizes>> shapes, strides;
};

// What a run's handle says, as far as it is asked.
class Place {
   public:
    explicit Place(cudnnHandle_t handle) : handle_(handle) {}

    CUstream_st* stream() const;
    std::optional<int> device();
    // torch's allocator gives memory to others in the order of its current stream: there it may be let go at once.
    bool has_to_keep(Memory const& memory);

   private:
    cudnnHandle_t handle_;
    std::optional<int> device_;
    bool is_device_known_ = false;
    std::optional<bool> is_of_torch_;  // whether the stream is torch's current one
};

// Raises ValueError for memory that the run would read or write wrongly.
Pack read_pack(Graph& graph, Place& place, py::dict const& given, Overrides const& overrides);

}  // namespace binding
