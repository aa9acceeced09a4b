#include "attention/masks.h"

#include <bit>
#include <cmath>

namespace cudnn_frontend::attention {

double alibi_slope(std::int64_t head, std::int64_t heads) {
    auto const base = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    auto const step = static_cast<double>(head < base ? 2 * (head + 1) : 2 * (head - base) + 1);
    return std::exp2(-4.0 * step / static_cast<double>(base));
}

}  // namespace cudnn_frontend::attention
