// The 8-bit formats against their definitions, and the choice of scales.
#include "core/floats.h"

#include "core/data_type.h"
#include "support/catch.h"
#include "support/flush_to_zero.h"
#include "support/skip.h"

#include <cudnn_frontend/fp8.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace cudnn_frontend;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Format {
    DataType_t type;
    int mantissa_bits, bias;
    std::uint8_t largest_bits;
    double (*read)(std::uint8_t bits);
    std::uint8_t (*write)(double value);
};
Format const kFormats[] = {
    {DataType_t::FP8_E4M3, 3, 7, 0x7e, [](std::uint8_t bits) { return double{core::e4m3_to_float(bits)}; },
     core::double_to_e4m3},
    {DataType_t::FP8_E5M2, 2, 15, 0x7b, [](std::uint8_t bits) { return double{core::e5m2_to_float(bits)}; },
     core::double_to_e5m2},
};

// A finite number by its sign, exponent and mantissa.
double defined(Format const& format, std::uint8_t bits) {
    int const steps = 1 << format.mantissa_bits;
    int const exponent = (bits & 0x7f) / steps, fraction = (bits & 0x7f) % steps;
    double const mantissa = static_cast<double>(exponent == 0 ? fraction : steps + fraction) / steps;
    return std::ldexp(bits & 0x80 ? -mantissa : mantissa, std::max(exponent, 1) - format.bias);
}

}  // namespace

TEST_CASE("every 8-bit number reads as its definition says and returns to its bits") {
    for (Format const& format : kFormats) {
        for (unsigned i = 0; i <= format.largest_bits; ++i) {
            for (unsigned const sign : {0u, 0x80u}) {
                auto const bits = static_cast<std::uint8_t>(i | sign);
                CHECK(format.read(bits) == defined(format, bits));
                CHECK(std::signbit(format.read(bits)) == (sign != 0));
                CHECK(format.write(format.read(bits)) == bits);
            }
        }
    }
    CHECK(core::e4m3_to_float(0x7e) == 448.0f);
    CHECK(core::e5m2_to_float(0x7b) == 57344.0f);
    CHECK(core::e5m2_to_float(0x7c) == std::numeric_limits<float>::infinity());
    for (std::uint8_t const nan : {std::uint8_t{0x7f}, std::uint8_t{0xff}}) {
        CHECK(std::isnan(core::e4m3_to_float(nan)));
        CHECK(std::isnan(core::e5m2_to_float(nan)));
    }
    CHECK(std::isnan(core::e5m2_to_float(0x7d)));
}

TEST_CASE("8-bit numbers are read and written alike where the process flushes small numbers to zero") {
    if (!sdpa_test::FlushToZero::kIsHere) {
        sdpa_test::skip("no way is known to make this machine flush");
        return;
    }
    for (Format const& format : kFormats) {
        std::vector<std::uint64_t> read;
        std::vector<std::uint8_t> written;
        {
            sdpa_test::FlushToZero const flush;
            for (unsigned i = 0; i < 256; ++i) {
                double const value = format.read(static_cast<std::uint8_t>(i));
                read.push_back(std::bit_cast<std::uint64_t>(value));
                written.push_back(format.write(value));
            }
        }
        for (unsigned i = 0; i < 256; ++i) {
            CAPTURE(i);
            double const value = format.read(static_cast<std::uint8_t>(i));
            CHECK(read[i] == std::bit_cast<std::uint64_t>(value));
            CHECK(written[i] == format.write(value));
        }
    }
}

TEST_CASE("a number between two of 8 bits rounds to the nearest, a tie to the even one") {
    for (Format const& format : kFormats) {
        for (unsigned i = 0; i < format.largest_bits; ++i) {
            auto const low = static_cast<std::uint8_t>(i), high = static_cast<std::uint8_t>(i + 1);
            double const middle = (format.read(low) + format.read(high)) / 2.0;
            CHECK(format.write(middle) == (i % 2 == 1 ? high : low));
            CHECK(format.write(std::nextafter(middle, 0.0)) == low);
            CHECK(format.write(std::nextafter(middle, kInfinity)) == high);
            CHECK(format.write(-middle) == ((i % 2 == 1 ? high : low) | 0x80));
        }
    }
}

TEST_CASE("too large numbers become the largest, and NaN stays NaN") {
    for (Format const& format : kFormats) {
        double const largest = format.read(format.largest_bits);
        for (double const value : {largest, std::nextafter(largest, kInfinity), 2.0 * largest, 1e300, kInfinity}) {
            CHECK(format.write(value) == format.largest_bits);
            CHECK(format.write(-value) == (format.largest_bits | 0x80));
        }
        CHECK(std::isnan(format.read(format.write(std::nan("")))));
        CHECK(format.write(1e-300) == 0);
        CHECK(format.write(-5e-324) == 0x80);
    }
}

TEST_CASE("elements of tensors are rounded once") {
    std::uint8_t memory[4] = {0xab, 0xab, 0xab, 0xab};
    // Just above the midpoint of 1 and 1.125: rounding to float first would give the midpoint.
    core::store(DataType_t::FP8_E4M3, memory, 1, 1.0625 + 0x1p-40);
    core::store(DataType_t::FP8_E5M2, memory, 2, 1.125 + 0x1p-40);
    CHECK(core::load(DataType_t::FP8_E4M3, memory, 1) == 1.125);
    CHECK(core::load(DataType_t::FP8_E5M2, memory, 2) == 1.25);
    CHECK(memory[0] == 0xab);
    CHECK(memory[3] == 0xab);
    CHECK(static_cast<float>(fp8_e4m3(-0.3f)) == -0.3125f);
    CHECK(static_cast<float>(fp8_e5m2(1e9f)) == 57344.0f);
}

TEST_CASE("a scale is the greatest power of two that keeps the magnitude in range") {
    for (DataType_t const type : {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2}) {
        float const largest = fp8_largest(type);
        for (float const amax : {1.0f, 0.75f, 448.0f, 449.0f, 1e-6f, 3e4f, 1e20f, 7.0f}) {
            CAPTURE(largest, amax);
            Fp8_scale const picked = fp8_scale(type, amax);
            CHECK(amax * picked.scale <= largest);
            CHECK(2.0f * amax * picked.scale > largest);
            CHECK(picked.scale * picked.descale == 1.0f);
            int exponent = 0;
            CHECK(std::frexp(picked.scale, &exponent) == 0.5f);
            CHECK(fp8_scale(type, amax, 2).scale == picked.scale / 4.0f);
        }
    }
    CHECK(fp8_scale(DataType_t::FP8_E4M3, 1.0f).scale == 256.0f);
    CHECK(fp8_scale(DataType_t::FP8_E5M2, 1.0f).scale == 32768.0f);
}

TEST_CASE("a magnitude that says nothing gives a scale of 1, and no scale is zero or infinite") {
    constexpr auto kE4m3 = DataType_t::FP8_E4M3;
    for (float const amax : {0.0f, -1.0f, std::numeric_limits<float>::infinity(), std::nanf("")}) {
        CHECK(fp8_scale(kE4m3, amax).scale == 1.0f);
        CHECK(fp8_scale(kE4m3, amax).descale == 1.0f);
    }
    CHECK(fp8_scale(DataType_t::HALF, 3.0f).scale == 1.0f);
    CHECK(fp8_largest(DataType_t::HALF) == 0.0f);
    for (float const amax : {1e-45f, 1e-38f, 3e38f}) {
        for (int const margin : {0, 300, -300, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
            Fp8_scale const picked = fp8_scale(kE4m3, amax, margin);
            CHECK(std::isnormal(picked.scale));
            CHECK(std::isnormal(picked.descale));
            CHECK(picked.scale * picked.descale == 1.0f);
        }
    }
}

TEST_CASE("a history scales by the greatest magnitude of the last runs") {
    Fp8_amax_history history(DataType_t::FP8_E4M3, 3, 1);
    CHECK(history.scale().scale == 1.0f);
    history.record(8.0f);
    CHECK(history.scale().scale == fp8_scale(DataType_t::FP8_E4M3, 8.0f, 1).scale);
    history.record(2.0f);
    history.record(1.0f);
    CHECK(history.greatest() == 8.0f);
    history.record(0.5f);
    CHECK(history.greatest() == 2.0f);
    for (float const nothing : {std::numeric_limits<float>::infinity(), std::nanf(""), -3.0f}) history.record(nothing);
    CHECK(history.greatest() == 2.0f);
    Fp8_amax_history shortest(DataType_t::FP8_E5M2, 0);
    shortest.record(4.0f);
    shortest.record(1.0f);
    CHECK(shortest.greatest() == 1.0f);
}
