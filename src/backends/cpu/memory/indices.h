// Lengths, ragged offsets and page tables: the caller's integers that say which memory attention accesses.
#pragma once

#include "core/result.h"
#include "cpu/memory/memory.h"
#include "cpu/memory/view.h"
#include "plan/packs/pack.h"

#include <span>
#include <vector>

namespace cudnn_frontend::cpu {

// Checks all of them before anything is written.
error_t check_indices(ir::OpGraph const& graph, Memory const& memory);

// The same for a pack with pointers to memory that the host cannot read: the integers that are needed are copied to the
// host.
error_t check_indices_elsewhere(ir::OpGraph const& graph, std::span<void* const> pointers, plan::Fetch const& fetch);

// Sequence lengths are data: they are known, and checked, only when a program runs.

// The values that hold lengths computed from cumulative ones.
std::vector<ir::ValueId> values_of_steps(ir::OpGraph const& graph);
void compute_steps(ir::OpGraph const& graph, std::span<ir::ValueId const> values, Memory const& memory);

// Checks that each length that an operation reads is between 0 and the size of its dim.
error_t check_lengths(ir::OpGraph const& graph, Memory const& memory);

// Ragged tensors of the caller's: checks of their offsets, and where their sequences are.

// Offsets that are negative, decrease or leave no room for a sequence are errors. Lengths are within their dims.
error_t check_offsets(ir::OpGraph const& graph, Memory const& memory);

using plan::PackedSequence;
using plan::PackedSequences;

// The sequences of each binding, in order; none for tensors that are not ragged. Lengths and offsets are valid.
std::vector<PackedSequences> sequences_of(ir::OpGraph const& graph, Memory const& memory);

// Containers of pages, and page tables.

// The container as `batches` sequences of `rows` rows; the container itself if there is no table.
DataView paged_view(DataView container, DataView const& table, std::int64_t batches, std::int64_t rows);

// Checks that a container has all pages that its table names for existing keys. Lengths are within their dims, and the
// offsets of packed tables are valid.
error_t check_pages(ir::OpGraph const& graph, Memory const& memory);

}  // namespace cudnn_frontend::cpu
