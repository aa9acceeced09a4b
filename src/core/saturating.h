// Arithmetic of sizes that stays at the largest number where the result would be larger.
#pragma once

#include <cstdint>
#include <limits>

namespace cudnn_frontend::core {

inline std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    std::int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

}  // namespace cudnn_frontend::core
