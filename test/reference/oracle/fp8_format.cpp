#include "reference/oracle/fp8_format.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace oracle {
namespace {

struct Layout {
    int mantissa_bits, bias, count;  // of finite numbers from 0 on
};

Layout layout_of(Fp8 format) { return format == Fp8::E4m3 ? Layout{3, 7, 0x7f} : Layout{2, 15, 0x7c}; }

// All numbers ascending from 0; the bits of each are its index.
std::vector<double> make_numbers(Fp8 format) {
    Layout const layout = layout_of(format);
    int const steps = 1 << layout.mantissa_bits;
    std::vector<double> numbers;
    for (int bits = 0; bits < layout.count; ++bits) {
        int const exponent = bits / steps, fraction = bits % steps;
        double const mantissa = static_cast<double>(exponent == 0 ? fraction : steps + fraction) / steps;
        numbers.push_back(std::ldexp(mantissa, std::max(exponent, 1) - layout.bias));
    }
    return numbers;
}

std::vector<double> const& numbers_of(Fp8 format) {
    static std::vector<double> const e4m3 = make_numbers(Fp8::E4m3), e5m2 = make_numbers(Fp8::E5m2);
    return format == Fp8::E4m3 ? e4m3 : e5m2;
}

}  // namespace

double largest(Fp8 format) { return numbers_of(format).back(); }

double nearest(Fp8 format, double value) {
    if (std::isnan(value)) return value;
    std::vector<double> const& numbers = numbers_of(format);
    double const magnitude = std::abs(value);
    auto const above = std::lower_bound(numbers.begin(), numbers.end(), magnitude);
    if (above == numbers.end()) return std::copysign(numbers.back(), value);
    if (above == numbers.begin()) return std::copysign(0.0, value);
    auto const below = above - 1;
    double const to_above = *above - magnitude, to_below = magnitude - *below;
    bool const is_even = (above - numbers.begin()) % 2 == 0;
    bool const goes_up = to_above < to_below || (to_above == to_below && is_even);
    return std::copysign(goes_up ? *above : *below, value);
}

double roundoff(Fp8 format) { return format == Fp8::E4m3 ? 0x1p-4 : 0x1p-3; }
double half_step(Fp8 format) { return numbers_of(format)[1] / 2.0; }

}  // namespace oracle
