// Copies of boxes of a tensor between memory and shared memory by the copy engine, started by one thread.
#pragma once

#include <hopper/warpgroup.cuh>

// Where a box begins in a tensor of [batch, head, row, column].
struct BoxPlace {
    int column, row, head, batch;
};

// Starts copying a box, whose rows and columns the map says, to a panel. Places that the tensor does not have become 0.
// The bytes count for the barrier's round, which expects them.
template <class Map>
inline void start_box_copy(void* panel, Map const& map, BoxPlace const& place, Arrivals& arrivals) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
        "[%6];" ::"r"(shared_address(panel)),
        "l"(&map), "r"(place.column), "r"(place.row), "r"(place.head), "r"(place.batch), "r"(shared_address(&arrivals))
        : "memory");
}

// Starts copying bytes in a row: places and their number are multiples of 16.
inline void start_row_copy(void* to, void const* from, int bytes, Arrivals& arrivals) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(&arrivals))
                 : "memory");
}

// Starts storing a box. Places that the tensor does not have are left out. Writes to shared memory must have been shown
// to the copy engine by show_to_products().
template <class Map>
inline void start_box_store(Map const& map, BoxPlace const& place, void const* panel) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(&map),
                 "r"(place.column), "r"(place.row), "r"(place.head), "r"(place.batch), "r"(shared_address(panel))
                 : "memory");
}
inline void end_box_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until the stores that this thread started have read shared memory.
inline void wait_for_box_stores() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// --- Maps in memory

// Changes a map in shared memory: where its tensor begins, and how many rows that has.
inline void set_start(void* map, void const* start) {
    asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_address(map)),
                 "l"(start)
                 : "memory");
}
inline void set_rows(void* map, int rows) {
    asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(shared_address(map)),
                 "r"(rows)
                 : "memory");
}
// Stores a map for other kernels, with all lanes of a warp.
inline void store_map(void* to, void const* map) {
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
            to),
        "r"(shared_address(map))
        : "memory");
}
// Needed before the first use of a map that another kernel stored.
inline void acquire_map(void const* map) {
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
