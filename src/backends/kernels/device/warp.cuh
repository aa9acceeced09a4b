// Exchanges between the lanes of a warp.
#pragma once

constexpr unsigned kAllLanes = 0xffffffffu;

inline int lane_index() { return static_cast<int>(threadIdx.x % 32); }
inline unsigned ballot(bool vote) { return __ballot_sync(kAllLanes, vote); }
inline float from_lane(float x, int lane) { return __shfl_sync(kAllLanes, x, lane); }
inline unsigned from_lane(unsigned x, int lane) { return __shfl_sync(kAllLanes, x, lane); }
inline long long from_lane(long long x, int lane) { return __shfl_sync(kAllLanes, x, lane); }
// The value of the lane whose number differs in these bits.
inline float from_lane_across(float x, int bits) { return __shfl_xor_sync(kAllLanes, x, bits); }
inline unsigned from_lane_across(unsigned x, int bits) { return __shfl_xor_sync(kAllLanes, x, bits); }
// Whether any thread of the block says so. All wait for it.
inline bool any_of_block(bool vote) { return __syncthreads_or(vote) != 0; }
inline void wait_for_warp() { __syncwarp(); }
inline int lowest_bit(unsigned word) { return __ffs(static_cast<int>(word)) - 1; }

// Values computed from the result are computed where they are used. A compiler that computes them ahead of a loop would
// keep them in registers, of which there are too few.
inline int computed_here(int x) {
    asm volatile("" : "+r"(x));
    return x;
}
