// Where the values of an op graph lie during a run.
#pragma once

#include "cpu/tensor.h"
#include "cpu/view.h"

#include <cstddef>
#include <span>

namespace cudnn_frontend::cpu {

// The place of one value: behind a pointer of the caller, in the workspace, or, for a constant, in the graph.
struct Slot {
    enum class Where { Pointer, Workspace, Graph };
    Where where = Where::Graph;
    std::int64_t at = 0;  // number of the pointer, or byte offset in the workspace
    // Of a ragged tensor that primitive operations touch: where its dense copy lies in the workspace; else negative.
    std::int64_t dense_at = -1;
};

// The type of a value's elements in memory: those of virtual values and of tables are fp64. 8-bit ones stay such, since
// rounding to them is a step of the mathematics.
DataType_t stored_type(ir::Value const& value);

class Memory {
   public:
    Memory(ir::OpGraph const& graph, std::span<Slot const> slots, std::span<void* const> pointers, std::byte* workspace)
        : graph_(graph), slots_(slots), pointers_(pointers), workspace_(workspace) {}

    // For primitive operations: of a ragged tensor its dense copy.
    Tensor tensor(ir::ValueId id) const;
    // For fused ones: the caller's memory. Empty for kNoValue.
    View view(ir::ValueId id) const;
    // An element of a tensor of integers, exact in all 64 bits.
    std::int64_t integer(ir::ValueId id, std::int64_t offset) const;

   private:
    void* data(ir::ValueId id) const;

    ir::OpGraph const& graph_;
    std::span<Slot const> slots_;
    std::span<void* const> pointers_;
    std::byte* workspace_;
};

}  // namespace cudnn_frontend::cpu
