// Where the values of an op graph are stored during a run.
#pragma once

#include "cpu/memory/tensor.h"
#include "cpu/memory/view.h"

#include <cstddef>
#include <span>

namespace cudnn_frontend::cpu {

// The place of one value: behind a pointer of the caller, in the workspace, or, for a constant, in the graph.
struct ValueSlot {
    enum class Where { Pointer, Workspace, Graph };
    Where where = Where::Graph;
    std::int64_t at = 0;  // number of the pointer, or byte offset in the workspace
    // The offset in the workspace of the copy that operations use of a caller's tensor (workspace.h); negative without
    // one.
    std::int64_t copy_at = -1;
};

// The type of a value's elements in memory: fp64 for virtual values and tables. 8-bit values stay 8-bit, since rounding
// to them is a step of the mathematics.
DataType_t stored_type(ir::Value const& value);
// The type of a copy's elements: for a result the same as if it were virtual.
DataType_t copied_type(ir::Value const& value);

// Tensors of fewer than four dims get leading ones.
DataView make_view(ir::Value const& value, void* data);

class Memory {
   public:
    Memory(ir::OpGraph const& graph, std::span<ValueSlot const> slots, std::span<void* const> pointers,
           std::byte* workspace)
        : graph_(graph), slots_(slots), pointers_(pointers), workspace_(workspace) {}

    // A value as primitive operations read it: the copy if there is one.
    Tensor tensor(ir::ValueId id) const;
    // A value as fused operations read it, ragged inputs directly. Empty for kNoValue.
    DataView view(ir::ValueId id) const;
    // The caller's memory, even if there is a copy.
    Tensor callers_tensor(ir::ValueId id) const;
    bool has_copy(ir::ValueId id) const { return copy_at(id) >= 0; }
    // An element of a tensor of integers, exact in all 64 bits.
    std::int64_t integer(ir::ValueId id, std::int64_t offset) const;

   private:
    void* data(ir::ValueId id) const;
    std::int64_t copy_at(ir::ValueId id) const {
        return slots_[static_cast<std::size_t>(graph_.storage_of(id))].copy_at;
    }

    ir::OpGraph const& graph_;
    std::span<ValueSlot const> slots_;
    std::span<void* const> pointers_;
    std::byte* workspace_;
};

}  // namespace cudnn_frontend::cpu
