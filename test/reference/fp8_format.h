// 8-bit floating point by its definition: every number listed, and the nearest one looked for. Knows nothing of the
// library.
#pragma once

#include <optional>

namespace oracle {

enum class Fp8 { E4M3, E5M2 };

double largest(Fp8 format);
// The nearest number of the format, of two equally near ones that with an even last bit; the largest beyond it.
double nearest(Fp8 format, double value);
// Half the distance from a number to the next one: relative to normal numbers, at least, and of the smallest.
double roundoff(Fp8 format);
double half_step(Fp8 format);

// A step of 8-bit attention: numbers are multiplied, stored in 8 bits, read and multiplied again.
struct Narrowing {
    std::optional<Fp8> format;  // none: not rounded
    double scale, descale;

    double operator()(double value) const {
        return (format ? nearest(*format, value * scale) : value * scale) * descale;
    }
    // How far the results of two numbers can lie apart that are this close to the value.
    double uncertainty(double value, double distance) const {
        return (*this)(value + distance) - (*this)(value - distance);
    }
};

}  // namespace oracle
