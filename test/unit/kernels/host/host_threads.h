// A block of CUDA threads on the host: threads take turns, and wait for each other at the barriers of a kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>

namespace sdpa_test {

// Runs `work` in every thread of a block, with threadIdx set. `threads` is a multiple of 32. The seed chooses which
// groups of four warps run slower than the others, as warps may on a GPU. Throws what a thread throws, and
// std::logic_error where all threads wait for good.
void run_block(unsigned threads, unsigned seed, std::function<void()> const& work);

// Waits until all threads of the block are here. Rounds of it are numbered.
void wait_for_block();
unsigned block_round();

// Named barriers: a round ends when so many threads have arrived, and some of them wait for that.
inline constexpr unsigned kNamedBarriers = 16;
void arrive_at(unsigned number, unsigned threads);
void wait_at(unsigned number, unsigned threads);
unsigned named_round(unsigned number);

// Lets other threads run until the condition holds.
void wait_until(std::function<bool()> const& condition);

// Gives the lane's `bytes` bytes to its warp, waits for all lanes, and returns the bytes of all 32 in order of lanes.
std::byte const* exchange_in_warp(void const* mine, std::size_t bytes);

template <class T>
std::array<T, 32> of_all_lanes(T const& mine) {
    std::array<T, 32> all;
    std::memcpy(all.data(), exchange_in_warp(&mine, sizeof(T)), sizeof(all));
    return all;
}

}  // namespace sdpa_test
