// An op graph, ready to run on host memory.
#pragma once

#include "cpu/memory/indices.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace cudnn_frontend::cpu {

// Runs primitive operations with the interpreter and fused attention with the blocked kernels. Intermediate values are
// in the workspace as fp64, unrounded, also those that are outputs; 8-bit values are rounded. Immutable: run() may be
// called from many threads with their own workspaces.
class CpuProgram {
   public:
    // For at least one thread; very many would only wait for each other.
    static Result<std::shared_ptr<CpuProgram const>> plan(ir::OpGraph graph, int threads);

    ir::OpGraph const& graph() const { return graph_; }
    std::int64_t workspace_size() const { return workspace_size_; }
    // An estimate of its memory.
    std::size_t bytes() const;

    // Pointers in the order of graph().bindings(), none of them null; the workspace has workspace_size() bytes.
    // Sequence lengths beyond their tensors are an error, found before anything is written.
    error_t run(std::span<void* const> pointers, void* workspace) const { return run(pointers, workspace, {}); }

    // Gets the sequences of ragged tensors, for each binding, before anything is written.
    using Inspect = std::function<error_t(std::vector<PackedSequences> const& sequences)>;
    error_t run(std::span<void* const> pointers, void* workspace, Inspect const& inspect) const;

   private:
    CpuProgram() = default;

    ir::OpGraph graph_;
    int threads_ = 1;
    std::vector<ValueSlot> slots_;     // of each value
    std::vector<ir::ValueId> steps_;   // values that are computed before the operations
    std::int64_t scratch_offset_ = 0;  // operations use it one after the other
    std::int64_t workspace_size_ = 0;
};

}  // namespace cudnn_frontend::cpu
