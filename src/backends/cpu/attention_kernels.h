// The arithmetic of fused attention on one tile, compiled for several instruction sets.
//
// A tile holds the scores of up to kTileKeys keys (its rows) and of `lanes` queries (its columns). Queries lie side by
// side in the lanes of vector registers, so that softmax over the keys never has to sum across a register.
#pragma once

#include <cstdint>

namespace cudnn_frontend::cpu {

inline constexpr std::int64_t kTileKeys = 64;
inline constexpr std::int64_t kMaxLanes = 32;

// c (rows x columns) from b (depth x columns) and a. Rows are a multiple of Kernels::row_step, columns of
// Kernels::lanes.
struct Product {
    float const* a;
    std::int64_t a_stride;
    float const* b;
    std::int64_t b_stride;
    float* c;
    std::int64_t c_stride;
    std::int64_t rows, columns, depth;
    // A 0 in the tile, and among the factors, leaves out what it is multiplied with, infinity and NaN too. Other sums
    // are the same bits either way. multiply() does not look at it.
    bool leaves_out_zeros = false;
};

// What turns probabilities into score gradients.
struct GradientTerms {
    float const* dropout_mask;  // a tile, or null
    float dropout_scale;
    float const* row_dots;  // of dO and O, for each lane
};

struct Kernels {
    char const* name;
    std::int64_t lanes;
    std::int64_t row_step;

    // c = a^T b, where a is depth x rows.
    void (*multiply)(Product const&);
    // c = c * factors + a^T b, with a factor for each lane. b is a tile.
    void (*rescale_and_multiply)(Product const&, float const* factors);
    // c += a b, where a is a tile: rows x depth, a_stride is not looked at.
    void (*multiply_tile)(Product const&);

    // One step of softmax over the keys: scores become exp(score - running maximum), all NaN from the first NaN on.
    // `rescale` receives the factors that bring what was summed under the old maximum to the new one.
    void (*softmax_step)(float* tile, std::int64_t keys, float* running_max, float* running_sum, float* rescale);
    // Scores become exp(score - stats), and 0 where either is minus infinity; with care also where the other is NaN.
    void (*probabilities)(float* tile, std::int64_t keys, float const* stats, bool is_careful);
    // `gradients` comes in with dO V^T and leaves with dS; `probabilities` leaves with dropout applied. Where a
    // probability is 0 both leave with 0, and what is dropped counts as 0 in dO V^T, infinity and NaN too.
    void (*score_gradients)(float* probabilities, float* gradients, std::int64_t keys, GradientTerms const&);
    // Multiplies each column by its factor. A factor of 0 clears the column whatever it held.
    void (*scale_lanes)(float* rows, std::int64_t count, float const* factors);
    // Whether there is NaN among so many numbers, a multiple of the lanes.
    bool (*holds_nan)(float const* numbers, std::int64_t count);
};

// The fastest that this machine runs.
Kernels const& kernels();

// All that this machine runs, the fastest first, up to the first null.
Kernels const* const* available_kernels();

}  // namespace cudnn_frontend::cpu
