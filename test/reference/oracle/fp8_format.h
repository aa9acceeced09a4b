// 8-bit floating point by its definition: lists every number and searches for the nearest. Knows nothing of the
// library.
#pragma once

#include <optional>

namespace oracle {

enum class Fp8 { E4m3, E5m2 };

double largest(Fp8 format);
// The nearest number of the format, ties to the even last bit; saturates.
double nearest(Fp8 format, double value);
// Half the distance between adjacent numbers: relative to a normal number, and that of the smallest ones.
double roundoff(Fp8 format);
double half_step(Fp8 format);

// A quantization step: numbers are scaled, stored in 8 bits, read and descaled.
struct Narrowing {
    std::optional<Fp8> format;  // none: not rounded
    double scale, descale;

    double operator()(double value) const {
        return (format ? nearest(*format, value * scale) : value * scale) * descale;
    }
    // How far the results of two numbers within this distance of the value can differ.
    double uncertainty(double value, double distance) const {
        return (*this)(value + distance) - (*this)(value - distance);
    }
};

}  // namespace oracle
