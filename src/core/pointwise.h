// What the pointwise modes take.
#pragma once

#include <cudnn_frontend/types.h>

#include <cstddef>

namespace cudnn_frontend::core {

// 1 for modes that are not known.
std::size_t operand_count(PointwiseMode_t mode);

}  // namespace cudnn_frontend::core
