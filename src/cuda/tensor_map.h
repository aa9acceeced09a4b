// Tensors as the copy engine of compute capability 9.0 and newer knows them.
#pragma once

#include "core/result.h"

#include <cudnn_frontend/types.h>

#include <cuda.h>

#include <array>
#include <cstdint>

namespace cudnn_frontend::cuda {

// A tensor of BFLOAT16 or HALF, of which boxes of 64 columns are copied. Their rows have the order of panels in shared
// memory, which warpgroups multiply (hopper/warpgroup.cuh). Strides are multiples of 16 bytes.
struct BoxedTensor {
    DataType_t type = DataType_t::NOT_SET;
    std::array<std::uint64_t, 4> dims{};     // columns, rows, heads, batches
    std::array<std::uint64_t, 3> strides{};  // of rows, heads and batches, in bytes
    std::uint32_t box_rows = 0;
    std::uint32_t box_heads = 1;  // rows of one head behind those of the other
};

// The driver's form of it, at an address that is a multiple of 16.
Result<CUtensorMap> encode(BoxedTensor const& tensor, void* start);

}  // namespace cudnn_frontend::cuda
