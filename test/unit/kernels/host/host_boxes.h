// Copies of boxes of a tensor, and of bytes in a row, by the copy engine, on the host (hopper/bulk_copies.cuh). A copy
// into shared memory is done at its start, or when a thread waits for its barrier's round and all warps have arrived,
// as a seed decides; a store from there at its start or at the wait.
#pragma once

#include "unit/kernels/host/host_async.h"

#include <array>
#include <cstdint>

namespace sdpa_test {

// A tensor of [batch, head, row, column] of 2 bytes each, in place of the driver's map of it.
struct HostTensorMap {
    unsigned char* start;
    std::array<std::int64_t, 4> dims;     // columns, rows, heads, batches
    std::array<std::int64_t, 3> strides;  // of rows, heads and batches, in bytes
    int box_rows;
    int box_heads = 1;
};

// The first column, row, head and batch.
using HostBoxPlace = std::array<int, 4>;

// Begins a block of that many threads. After the block, finish_box_block() throws if a store was not waited for, or if
// nothing waits for a copy that goes on.
void begin_box_block(unsigned threads);
void finish_box_block();

// --- Barriers, whose rounds may wait for bytes of copies

void make_box_barrier(void const* barrier);
// The fence: the copy engine knows the barriers that were made.
void show_box_barriers();
void begin_box_round(void const* barrier);
void expect_box_bytes(void const* barrier, int bytes);
bool has_all_box_bytes(void const* barrier);

// --- Copies

// Places that the tensor does not have become 0.
void start_box_copy(void* to, HostTensorMap const& map, HostBoxPlace const& place, void const* barrier);
void finish_box_copies(void const* barrier);

// Bytes in a row, in the same way.
void start_row_copy(void* to, void const* from, std::size_t bytes, void const* barrier);

// Memory that was not shown to the copy engine is stored as NaN. Places that the tensor does not have are left out.
void start_box_store(HostTensorMap const& map, HostBoxPlace const& place, void const* from);
// The thread's stores so far become those that it waits for.
void end_box_stores();
void finish_box_stores();

}  // namespace sdpa_test
