// The slopes of the ALiBi mask, docs/spec.md section 4.
#pragma once

#include <cstdint>

namespace cudnn_frontend::core {

// A geometric sequence over the largest power of two of heads, and every other term of the next finer one for the rest,
// so that any number of heads gets distinct slopes.
double alibi_slope(std::int64_t head, std::int64_t heads);

}  // namespace cudnn_frontend::core
