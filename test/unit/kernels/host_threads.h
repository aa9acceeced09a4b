// A block of CUDA threads on the host: threads take turns, and wait for each other where a kernel has them meet.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>

namespace sdpa_test {

// Runs the work of every thread of a block, of whole warps, with threadIdx set. Which warps fall behind others, as they
// may on a GPU, is drawn from the seed.
void run_block(unsigned threads, unsigned seed, std::function<void()> const& work);

// Waits until all threads of the block are here.
void wait_for_block();

// For a thread that waits for what another one does.
void let_others_run();

// What the lanes of the thread's warp pass in the same call, `bytes` each.
std::byte const* exchange_in_warp(void const* mine, std::size_t bytes);

template <class T>
std::array<T, 32> of_all_lanes(T const& mine) {
    std::array<T, 32> all;
    std::memcpy(all.data(), exchange_in_warp(&mine, sizeof(T)), sizeof(all));
    return all;
}

}  // namespace sdpa_test
