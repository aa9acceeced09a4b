// This replaces the kernels' own file of that name, which needs a GPU.
#pragma once

#include "cuda_words.h"
#include "host_async.h"
#include "host_threads.h"

#include <algorithm>
#include <array>
#include <bit>
#include <source_location>

constexpr unsigned kAllLanes = 0xffffffffu;

inline int lane_index() { return static_cast<int>(threadIdx.x % 32); }
inline unsigned ballot(bool vote) {
    unsigned votes = 0;
    auto const all = sdpa_test::of_all_lanes(vote);
    for (unsigned lane = 0; lane < 32; ++lane) votes |= unsigned{all[lane]} << lane;
    return votes;
}
template <class T>
T from_lane(T x, int lane) {
    return sdpa_test::of_all_lanes(x)[static_cast<unsigned>(lane)];
}
template <class T>
T from_lane_across(T x, int bits) {
    return sdpa_test::of_all_lanes(x)[static_cast<unsigned>(lane_index() ^ bits)];
}
inline void wait_for_warp() { ballot(true); }
inline int lowest_bit(unsigned word) { return std::countr_zero(word); }
inline void __syncthreads(std::source_location const where = std::source_location::current()) {
    if (sdpa_test::is_left_out("__syncthreads()", where)) return;
    static char const barrier = 0;
    unsigned const round = sdpa_test::block_round();
    sdpa_test::pass_on_writes(&barrier, round);
    sdpa_test::wait_for_block();
    sdpa_test::learn_of_writes(&barrier, round);
}
inline bool any_of_block(bool vote) {
    // Two sets, so that a thread may vote again while others still count.
    static std::array<std::array<bool, 1024>, 2> votes;
    auto& of_round = votes[sdpa_test::block_round() % 2];
    of_round[threadIdx.x] = vote;
    sdpa_test::wait_for_block();
    return std::any_of(of_round.begin(), of_round.begin() + blockDim.x, [](bool each) { return each; });
}
inline int computed_here(int x) { return x; }
