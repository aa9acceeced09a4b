#include "core/data_type.h"

#include "core/names.h"

#include "support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>

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

TEST_CASE("integers keep all 64 bits") {
    std::int64_t const value = 0x7123456789abcdef;
    CHECK(core::load_integer(DataType_t::INT64, &value, 0) == value);
    CHECK(core::to_integer(detail::make_scalar(value)) == value);
    CHECK(core::to_double(detail::make_scalar(-0.5f)) == -0.5);
    CHECK(core::to_double(detail::make_scalar(bfloat16(3.0f))) == 3.0);
}
