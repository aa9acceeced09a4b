#include "core/data_type.h"

#include "core/names.h"

#include "support/catch.h"
#include "support/flush_to_zero.h"
#include "support/skip.h"

#include <cudnn_frontend/backend_helpers.h>

#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

using namespace cudnn_frontend;

TEST_CASE("each host type stores and loads its values") {
    struct Row {
        DataType_t type;
        double value, expected;
    };
    Row const rows[] = {
        {DataType_t::FLOAT, 0.1, static_cast<double>(0.1f)},
        {DataType_t::DOUBLE, 0.1, 0.1},
        {DataType_t::HALF, 0.1, 0.0999755859375},
        {DataType_t::BFLOAT16, 0.1, 0.10009765625},
        {DataType_t::INT32, -2.6, -3},
        {DataType_t::INT32, 1e20, 2147483647},
        {DataType_t::INT64, -1e30, -9223372036854775808.0},
        {DataType_t::INT8, 200, 127},
        {DataType_t::UINT8, -5, 0},
        {DataType_t::BOOLEAN, 1, 1},
        {DataType_t::INT32, std::nan(""), 0},
    };
    for (Row const& row : rows) {
        CAPTURE(core::name_of(row.type), row.value);
        REQUIRE(core::has_host_elements(row.type));
        alignas(8) unsigned char memory[64];
        std::memset(memory, 0xab, sizeof(memory));
        core::store(row.type, memory, 2, row.value);
        CHECK(core::load(row.type, memory, 2) == row.expected);
        std::int64_t const size = core::size_of(row.type);
        for (std::int64_t i = 0; i < 64; ++i) {
            if (i < 2 * size || i >= 3 * size) REQUIRE(memory[i] == 0xab);
        }
    }
}

TEST_CASE("elements keep their bits where the process flushes small numbers to zero") {
    if (!sdpa_test::FlushToZero::kIsHere) {
        sdpa_test::skip("no way is known to make this machine flush");
        return;
    }
    // All that the type has, and of 32 bits those around zero and the smallest normal number.
    struct Row {
        DataType_t type;
        std::uint32_t patterns, step;
    };
    for (Row const& row : {Row{DataType_t::HALF, 65536, 1}, Row{DataType_t::BFLOAT16, 65536, 1},
                           Row{DataType_t::FP8_E4M3, 256, 1}, Row{DataType_t::FP8_E5M2, 256, 1},
                           Row{DataType_t::FP8_E8M0, 256, 1}, Row{DataType_t::FLOAT, 0x01000000u, 4093}}) {
        CAPTURE(core::name_of(row.type));
        std::int64_t changed = 0;
        for (std::uint32_t pattern = 0; pattern < row.patterns; pattern += row.step) {
            std::uint32_t after = 0;
            double value = 0.0;
            {
                sdpa_test::FlushToZero const flush;
                value = core::load(row.type, &pattern, 0);
                core::store(row.type, &after, 0, value);
            }
            if (std::isfinite(value) && after != pattern) ++changed;  // 8 bits saturate
            if (core::load(row.type, &pattern, 0) != value && !std::isnan(value)) ++changed;
        }
        CHECK(changed == 0);
    }
}

TEST_CASE("integers keep all 64 bits") {
    std::int64_t const value = 0x7123456789abcdef;
    CHECK(core::load_integer(DataType_t::INT64, &value, 0) == value);
    CHECK(core::to_integer(detail::make_scalar(value)) == value);
    CHECK(core::to_double(detail::make_scalar(-0.5f)) == -0.5);
    CHECK(core::to_double(detail::make_scalar(bfloat16(3.0f))) == 3.0);
}

TEST_CASE("elements have their sizes in bits, and groups of them too") {
    std::pair<DataType_t, std::size_t> const rows[] = {
        {DataType_t::NOT_SET, 0},   {DataType_t::FLOAT, 32},        {DataType_t::DOUBLE, 64},
        {DataType_t::HALF, 16},     {DataType_t::INT8, 8},          {DataType_t::INT32, 32},
        {DataType_t::INT8x4, 32},   {DataType_t::UINT8, 8},         {DataType_t::UINT8x4, 32},
        {DataType_t::INT8x32, 256}, {DataType_t::BFLOAT16, 16},     {DataType_t::INT64, 64},
        {DataType_t::BOOLEAN, 8},   {DataType_t::FP8_E4M3, 8},      {DataType_t::FP8_E5M2, 8},
        {DataType_t::FP8_E8M0, 8},  {DataType_t::FP4_E2M1, 4},      {DataType_t::FAST_FLOAT_FOR_FP8, 32},
        {DataType_t::INT4, 4},      {DataType_t::COMPLEX_FP32, 64}, {DataType_t::COMPLEX_FP64, 128},
    };
    CHECK(std::size(rows) == core::names_of<DataType_t>().size());
    for (auto const& [type, bits] : rows) {
        CAPTURE(core::name_of(type));
        CHECK(detail::get_element_size_in_bits(type) == bits);
    }
}
