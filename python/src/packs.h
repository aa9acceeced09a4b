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
    std::vector<void*> in_order;  // for all uids of the graph in order, if the pack has memory for exactly these
    Objects held;                 // with their exports: while it runs, other threads may drop them
    Objects on_gpu;               // those objects that the stream reads or writes without torch's knowledge

    Pointers by_uid() const { return Pointers(entries.begin(), entries.end()); }
};

// Other dims and strides for the tensors of these uids; None means none.
struct Overrides {
    std::optional<Sizes> uids;
    std::optional<std::vector<Sizes>> shapes, strides;
};

// The stream and device of a run's handle, read when first asked for.
class Place {
   public:
    explicit Place(cudnnHandle_t handle) : handle_(handle) {}

    CUstream_st* stream() const;
    std::optional<int> device();
    // torch's allocator reuses memory in the order of its current stream: on that stream it may be released at once.
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
