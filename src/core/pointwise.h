// The operands of the pointwise modes, and the modes that give or read true and false.
#pragma once

#include <cudnn_frontend/types.h>

#include <cstddef>

namespace cudnn_frontend::core {

// 1 for unknown modes.
std::size_t operand_count(PointwiseMode_t mode);

bool is_comparison(PointwiseMode_t mode);
// Whether all operands are read as true or false.
bool is_logical(PointwiseMode_t mode);

}  // namespace cudnn_frontend::core
