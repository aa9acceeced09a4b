// The choice of FP8 scales.
#include <cudnn_frontend/fp8.h>

#include <algorithm>
#include <cmath>

namespace cudnn_frontend {

float fp8_largest(DataType_t type) {
    if (type == DataType_t::FP8_E4M3) return 448.0f;
    return type == DataType_t::FP8_E5M2 ? 57344.0f : 0.0f;
}

Fp8_scale fp8_scale(DataType_t type, float amax, int margin) {
    float const largest = fp8_largest(type);
    if (largest == 0.0f || !std::isfinite(amax) || amax <= 0.0f) return {};
    // Keeps both factors normal numbers for any magnitude and margin.
    constexpr int kMost = 126;
    double const ratio = double{largest} / double{amax};
    int const exponent = std::clamp(std::ilogb(ratio) - std::clamp(margin, -2 * kMost, 2 * kMost), -kMost, kMost);
    return {std::ldexp(1.0f, exponent), std::ldexp(1.0f, -exponent)};
}

Fp8_amax_history::Fp8_amax_history(DataType_t type, std::size_t length, int margin)
    : type_(type), length_(std::max<std::size_t>(length, 1)), margin_(margin) {}

void Fp8_amax_history::record(float amax) {
    if (!std::isfinite(amax) || amax < 0.0f) return;
    if (last_.size() == length_) last_.erase(last_.begin());
    last_.push_back(amax);
}

Fp8_scale Fp8_amax_history::scale() const { return fp8_scale(type_, greatest(), margin_); }

float Fp8_amax_history::greatest() const {
    return last_.empty() ? 0.0f : *std::max_element(last_.begin(), last_.end());
}

}  // namespace cudnn_frontend
