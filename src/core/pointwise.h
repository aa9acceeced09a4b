// The operands of the pointwise modes.
#pragma once

#include <cudnn_frontend/types.h>

#include <cstddef>

namespace cudnn_frontend::core {

// 1 for unknown modes.
std::size_t operand_count(PointwiseMode_t mode);

}  // namespace cudnn_frontend::core
