// 8-bit floating point: storage types, and the factors that bring numbers into their range, one for a tensor or one for
// each 32 numbers.
#pragma once

#include "export.h"
#include "types.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudnn_frontend {

// DataType_t::FP8_E4M3 as storage: 3 bits of mantissa, up to 448. Arithmetic is done in float. Conversion saturates, as
// in cuDNN's kernels.
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

// Factors applied before numbers are stored in 8 bits, and after they are read: powers of two, so that the products are
// exact and descale is 1 / scale.
struct Fp8_scale {
    float scale = 1.0f;
    float descale = 1.0f;
};

// The largest finite number of FP8_E4M3 or FP8_E5M2; 0 for other types.
SDPA_GRAPH_API float fp8_largest(DataType_t type);

// Current scaling: the greatest scale that keeps numbers up to this magnitude in the type's range, with `margin` powers
// of two to spare, within the range of FLOAT. 1 for a magnitude of 0 or below, infinity or NaN, and for a type other
// than the two.
SDPA_GRAPH_API Fp8_scale fp8_scale(DataType_t type, float amax, int margin = 0);

// Delayed scaling: the scale for the next run, from the greatest magnitudes of the last ones.
class SDPA_GRAPH_API Fp8_amax_history {
   public:
    explicit Fp8_amax_history(DataType_t type, std::size_t length = 16, int margin = 0);

    // Adds the Amax of a run. NaN, infinity and negative numbers are ignored.
    void record(float amax);
    Fp8_scale scale() const;  // from the greatest one in the history; 1 while it is empty
    float greatest() const;

   private:
    DataType_t type_;
    std::size_t length_;
    int margin_;
    std::vector<float> last_;  // the oldest first
};

// Numbers in blocks of 32 with a scale for each: an element times 2^(scale - 127). The elements are in the order of the
// original numbers; the scales are FP8_E8M0 of scale_dim, in the order TensorReordering_t::F8_128x4.
struct Mxfp8 {
    std::vector<std::uint8_t> elements;
    std::vector<std::uint8_t> scales;
    std::vector<std::int64_t> scale_dim;
};

// The dims of the scales of a tensor {B, H, rows, columns} with blocks along axis 2 or 3: the number of blocks on that
// axis, padded to a multiple of 4; the other axis padded to a multiple of 128. Empty for other dims and axes.
SDPA_GRAPH_API std::vector<std::int64_t> mxfp8_scale_dim(std::vector<std::int64_t> const& dim, int axis);

// Quantizes numbers in row-major order to FP8_E4M3 or FP8_E5M2. The scale of a block is the smallest that keeps all of
// its numbers in the type's range; scales of padding are 1. Empty for other types, dims and axes, and if the number of
// values does not match the dims.
SDPA_GRAPH_API Mxfp8 mxfp8_quantize(DataType_t type, std::vector<float> const& values,
                                    std::vector<std::int64_t> const& dim, int axis);
// The numbers that the blocks represent; empty if dims, axis and sizes do not match.
SDPA_GRAPH_API std::vector<float> mxfp8_dequantize(DataType_t type, Mxfp8 const& blocks,
                                                   std::vector<std::int64_t> const& dim, int axis);

}  // namespace cudnn_frontend
