// 8-bit floating point: its numbers as storage, and factors that bring others into its range, one for a tensor or one
// for each 32 numbers.
#pragma once

#include "export.h"
#include "types.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudnn_frontend {

// DataType_t::FP8_E4M3 as storage: 3 bits of mantissa, up to 448. Arithmetic is done in float. Greater numbers become
// the largest one, as cuDNN's kernels do it.
struct SDPA_GRAPH_API fp8_e4m3 {
    std::uint8_t bits = 0;

    fp8_e4m3() = default;
    explicit fp8_e4m3(float value);
    explicit operator float() const;
};

// DataType_t::FP8_E5M2 as storage: 2 bits of mantissa, up to 57344.
struct SDPA_GRAPH_API fp8_e5m2 {
    std::uint8_t bits = 0;

    fp8_e5m2() = default;
    explicit fp8_e5m2(float value);
    explicit operator float() const;
};

// What numbers are multiplied by before they are stored in 8 bits, and after they were read: powers of two, so that
// these products are exact and descale is 1 / scale.
struct Fp8_scale {
    float scale = 1.0f;
    float descale = 1.0f;
};

// The largest finite number of FP8_E4M3 or FP8_E5M2; 0 for other types.
SDPA_GRAPH_API float fp8_largest(DataType_t type);

// Current scaling: the greatest scale under which numbers up to this magnitude stay in the type's range, with so many
// powers of two to spare, as far as FLOAT reaches. 1 for a magnitude that says nothing: not above 0, infinity or NaN,
// or a type other than the two.
SDPA_GRAPH_API Fp8_scale fp8_scale(DataType_t type, float amax, int margin = 0);

// Delayed scaling: the scale for what is not computed yet, from the greatest magnitudes of the last runs.
class SDPA_GRAPH_API Fp8_amax_history {
   public:
    explicit Fp8_amax_history(DataType_t type, std::size_t length = 16, int margin = 0);

    // Of a run, such as its Amax outputs tell. What is no finite number, or negative, leaves the history as it is.
    void record(float amax);
    Fp8_scale scale() const;  // of the greatest that is remembered; 1 before the first
    float greatest() const;

   private:
    DataType_t type_;
    std::size_t length_;
    int margin_;
    std::vector<float> last_;  // the oldest first
};

// Numbers in blocks of 32 with a scale for each: an element times 2^(scale - 127). The elements have the order of the
// numbers they were made of; the scales are FP8_E8M0 of scale_dim, in the order TensorReordering_t::F8_128x4.
struct Mxfp8 {
    std::vector<std::uint8_t> elements;
    std::vector<std::uint8_t> scales;
    std::vector<std::int64_t> scale_dim;
};

// The dims of the scales of a tensor {B, H, rows, columns} with blocks along axis 2 or 3: there as many as there are
// blocks, padded to 4; along the other axis padded to 128. Empty for other dims and axes.
SDPA_GRAPH_API std::vector<std::int64_t> mxfp8_scale_dim(std::vector<std::int64_t> const& dim, int axis);

// Numbers in row-major order as FP8_E4M3 or FP8_E5M2. The scale of a block is the smallest under which all of its
// numbers stay in the type's range; scales that only pad are 1. Empty for other types, dims and axes, and where there
// are not as many numbers as the dims say.
SDPA_GRAPH_API Mxfp8 mxfp8_quantize(DataType_t type, std::vector<float> const& values,
                                    std::vector<std::int64_t> const& dim, int axis);
// What they stand for; empty where dims, axis and sizes do not fit.
SDPA_GRAPH_API std::vector<float> mxfp8_dequantize(DataType_t type, Mxfp8 const& blocks,
                                                   std::vector<std::int64_t> const& dim, int axis);

}  // namespace cudnn_frontend
