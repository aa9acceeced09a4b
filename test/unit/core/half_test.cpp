// The 16-bit formats against their definitions: sign, exponent and mantissa extracted in double.
#include "core/floats.h"

#include "support/catch.h"
#include "support/flush_to_zero.h"
#include "support/skip.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace cudnn_frontend;

namespace {

double value_of_half(std::uint16_t bits) {
    double const sign = (bits & 0x8000u) ? -1.0 : 1.0;
    int const exponent = (bits >> 10) & 31;
    double const mantissa = bits & 1023;
    if (exponent == 31) return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024.0 + mantissa, exponent - 25);
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

}  // namespace

TEST_CASE("every half reads as its definition says and returns to its bits") {
    int wrong = 0;
    for (unsigned i = 0; i < 65536; ++i) {
        auto const bits = static_cast<std::uint16_t>(i);
        float const read = core::half_to_float(bits);
        if (!same(read, value_of_half(bits))) ++wrong;
        if (!std::isnan(read) && core::float_to_half(read) != bits) ++wrong;
        if (std::isnan(read) && !std::isnan(core::half_to_float(core::float_to_half(read)))) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("halves are read and written alike where the process flushes small numbers to zero") {
    if (!sdpa_test::FlushToZero::kIsHere) {
        sdpa_test::skip("no way is known to make this machine flush");
        return;
    }
    std::vector<std::uint32_t> read;
    std::vector<std::uint16_t> written;
    {
        sdpa_test::FlushToZero const flush;
        for (unsigned i = 0; i < 65536; ++i) {
            float const value = core::half_to_float(static_cast<std::uint16_t>(i));
            read.push_back(std::bit_cast<std::uint32_t>(value));
            written.push_back(core::float_to_half(value));
        }
    }
    int wrong = 0;
    for (unsigned i = 0; i < 65536; ++i) {
        auto const bits = static_cast<std::uint16_t>(i);
        float const value = core::half_to_float(bits);
        if (read[i] != std::bit_cast<std::uint32_t>(value)) ++wrong;
        if (written[i] != core::float_to_half(value)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a float between two halves rounds to the nearest, a tie to the even one") {
    int wrong = 0;
    for (unsigned i = 0; i < 0x7bff; ++i) {
        auto const low = static_cast<std::uint16_t>(i), high = static_cast<std::uint16_t>(i + 1);
        auto const middle = static_cast<float>((value_of_half(low) + value_of_half(high)) / 2);
        if (core::float_to_half(middle) != ((i & 1u) ? high : low)) ++wrong;
        if (core::float_to_half(std::nextafter(middle, 0.0f)) != low) ++wrong;
        if (core::float_to_half(std::nextafter(middle, 1e30f)) != high) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(core::float_to_half(65519.0f) == 0x7bff);
    CHECK(core::float_to_half(65520.0f) == 0x7c00);
    CHECK(core::float_to_half(-1e30f) == 0xfc00);
}

TEST_CASE("every bfloat16 returns to its bits, and floats round to the nearest") {
    int wrong = 0;
    for (unsigned i = 0; i < 65536; ++i) {
        auto const bits = static_cast<std::uint16_t>(i);
        float const read = core::bfloat16_to_float(bits);
        if (!std::isnan(read) && core::float_to_bfloat16(read) != bits) ++wrong;
        if (std::isnan(read) && !std::isnan(core::bfloat16_to_float(core::float_to_bfloat16(read)))) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(core::float_to_bfloat16(1.0f + 1.0f / 256) == 0x3f80);  // tie to even, down
    CHECK(core::float_to_bfloat16(1.0f + 3.0f / 256) == 0x3f82);  // tie to even, up
    CHECK(core::float_to_bfloat16(1.0f + 1.01f / 256) == 0x3f81);
    CHECK(core::float_to_bfloat16(std::numeric_limits<float>::max()) == 0x7f80);
}
