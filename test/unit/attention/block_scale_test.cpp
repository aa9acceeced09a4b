// Block scales: their values, their order in memory, and the public functions that make them.
#include "attention/block_scale.h"
#include "core/data_type.h"
#include "core/floats.h"

#include "support/catch.h"
#include "support/random.h"

#include <cudnn_frontend/fp8.h>

#include <cmath>
#include <limits>
#include <set>

using namespace cudnn_frontend;

TEST_CASE("FP8_E8M0 holds powers of two and NaN") {
    for (int bits = 0; bits < 255; ++bits) {
        auto const byte = static_cast<std::uint8_t>(bits);
        CHECK(core::e8m0_to_double(byte) == std::exp2(bits - 127));
        CHECK(core::double_to_e8m0(std::exp2(bits - 127)) == byte);
    }
    CHECK(std::isnan(core::e8m0_to_double(255)));
    struct Row {
        double value;
        int bits;
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Row const rows[] = {{1.5, 128}, {0.75, 127}, {1e300, 254},      {kInfinity, 254},   {1e-300, 0},
                        {0.0, 0},   {-1.0, 255}, {-kInfinity, 255}, {std::nan(""), 255}};
    for (Row const& row : rows) {
        CAPTURE(row.value);
        CHECK(core::double_to_e8m0(row.value) == row.bits);
    }
    std::uint8_t memory[3] = {1, 1, 1};
    core::store(DataType_t::FP8_E8M0, memory, 1, 8.0);
    CHECK(memory[0] == 1);
    CHECK(memory[1] == 130);
    CHECK(memory[2] == 1);
    CHECK(core::load(DataType_t::FP8_E8M0, memory, 1) == 8.0);
    CHECK(core::has_host_elements(DataType_t::FP8_E8M0));
}

TEST_CASE("a block's exponent is the smallest that keeps its magnitude in range") {
    for (double const magnitude : {1.0, 448.0, 448.5, 0.4, 1e-12, 3e20, 895.0, 896.0}) {
        double const scale = core::e8m0_to_double(attention::block_exponent(magnitude, 448.0));
        CAPTURE(magnitude, scale);
        CHECK(magnitude / scale <= 448.0);
        CHECK(2.0 * magnitude / scale > 448.0);
    }
    CHECK(attention::block_exponent(0.0, 448.0) == 127);
    CHECK(attention::block_exponent(1e-300, 448.0) == 0);
}

TEST_CASE("scales have a dim for the blocks, padded to 4, and one for the rows, padded to 128") {
    CHECK(attention::block_dims({2, 3, 70, 96}, 3) == core::Dims{2, 3, 70, 3});
    CHECK(attention::block_dims({2, 3, 70, 96}, 2) == core::Dims{2, 3, 3, 96});
    CHECK(attention::padded_block_dims({2, 3, 70, 96}, 3) == core::Dims{2, 3, 128, 4});
    CHECK(attention::padded_block_dims({2, 3, 70, 96}, 2) == core::Dims{2, 3, 4, 128});
    CHECK(attention::padded_block_dims({1, 1, 129, 160}, 3) == core::Dims{1, 1, 256, 8});
    CHECK(attention::padded_block_dims({1, 1, 129, 160}, 2) == core::Dims{1, 1, 8, 256});
    CHECK(mxfp8_scale_dim({2, 3, 70, 96}, 2) == core::Dims{2, 3, 4, 128});
}

TEST_CASE("the order 128x4 lists tiles, in them rows 32 apart beside each other") {
    struct Row {
        std::int64_t row, block, blocks, index;
    };
    Row const rows[] = {{0, 0, 4, 0},   {0, 3, 4, 3},      {1, 0, 4, 16},    {31, 0, 4, 496},
                        {32, 0, 4, 4},  {96, 1, 4, 13},    {127, 3, 4, 511}, {128, 0, 4, 512},
                        {0, 4, 8, 512}, {128, 0, 8, 1024}, {130, 5, 8, 1569}};
    for (Row const& row : rows) {
        CAPTURE(row.row, row.block, row.blocks);
        CHECK(attention::index_128x4(row.row, row.block, row.blocks) == row.index);
    }
    std::set<std::int64_t> all;
    for (std::int64_t row = 0; row < 256; ++row)
        for (std::int64_t block = 0; block < 12; ++block) all.insert(attention::index_128x4(row, block, 12));
    CHECK(all.size() == 256 * 12);
    CHECK(*all.rbegin() == 256 * 12 - 1);
}

TEST_CASE("numbers quantized in blocks come back within half a step of their block") {
    sdpa_test::Random random(7);
    std::vector<std::int64_t> const dim{2, 2, 150, 40};
    std::vector<float> values(2 * 2 * 150 * 40);
    for (float& value : values) value = static_cast<float>(random.real(-1.0, 1.0) * std::exp2(random.between(-20, 20)));
    for (DataType_t const type : {DataType_t::FP8_E4M3, DataType_t::FP8_E5M2}) {
        // Half a step relative to a normal number; for smaller numbers at most that of the smallest normal one.
        double const part = type == DataType_t::FP8_E4M3 ? 0x1p-4 : 0x1p-3;
        double const smallest = type == DataType_t::FP8_E4M3 ? 0x1p-6 : 0x1p-14;
        for (int const axis : {2, 3}) {
            Mxfp8 const made = mxfp8_quantize(type, values, dim, axis);
            REQUIRE(made.scale_dim == mxfp8_scale_dim(dim, axis));
            REQUIRE(made.scales.size() == static_cast<std::size_t>(*core::volume(made.scale_dim)));
            std::vector<float> const back = mxfp8_dequantize(type, made, dim, axis);
            REQUIRE(back.size() == values.size());
            std::int64_t off = 0;
            for (std::size_t at = 0; at < values.size(); ++at) {
                auto const i = static_cast<std::int64_t>(at) / 40 % 150, j = static_cast<std::int64_t>(at) % 40;
                double greatest = 0.0;
                for (std::int64_t n = 0; n < 32; ++n) {
                    std::int64_t const row = axis == 2 ? i / 32 * 32 + n : i, column = axis == 3 ? j / 32 * 32 + n : j;
                    if (row >= 150 || column >= 40) continue;
                    auto const first = static_cast<std::int64_t>(at) - i * 40 - j;
                    greatest = std::max(greatest,
                                        std::abs(double{values[static_cast<std::size_t>(first + row * 40 + column)]}));
                }
                double const scale = std::exp2(std::ceil(std::log2(greatest / double{fp8_largest(type)})));
                double const allowed = std::max(std::abs(double{values[at]}), smallest * scale) * part;
                if (!(std::abs(double{back[at]} - double{values[at]}) <= allowed)) ++off;
            }
            CHECK(off == 0);
        }
    }
}

TEST_CASE("a number lies under the scale of its block, and padding has scales of 1") {
    std::vector<float> values(3 * 64, 1.0f);
    values[1 * 64 + 40] = 4096.0f;  // row 1, block 1
    Mxfp8 const made = mxfp8_quantize(DataType_t::FP8_E4M3, values, {1, 1, 3, 64}, 3);
    CHECK(made.scale_dim == std::vector<std::int64_t>{1, 1, 128, 4});
    CHECK(made.scales[0] == 127 - 8);       // 1 / 2^-8 = 256
    CHECK(made.scales[16 + 1] == 127 + 4);  // 4096 / 2^4 = 256
    CHECK(made.scales[16] == 127 - 8);
    CHECK(made.scales[2] == 127);       // past the last block
    CHECK(made.scales[3 * 16] == 127);  // past the last row
    CHECK(static_cast<float>(fp8_e4m3(256.0f)) == 256.0f);
    CHECK(made.elements[1 * 64 + 40] == fp8_e4m3(256.0f).bits);
    CHECK(made.elements[1 * 64 + 41] == fp8_e4m3(0.0625f).bits);
}

TEST_CASE("what cannot be quantized in blocks gives nothing, and NaN and infinity leave their block's scale alone") {
    std::vector<float> const values(64, 1.0f);
    CHECK(mxfp8_quantize(DataType_t::HALF, values, {1, 1, 2, 32}, 3).elements.empty());
    CHECK(mxfp8_quantize(DataType_t::FP8_E4M3, values, {1, 1, 2, 32}, 1).elements.empty());
    CHECK(mxfp8_quantize(DataType_t::FP8_E4M3, values, {1, 2, 32}, 2).elements.empty());
    CHECK(mxfp8_quantize(DataType_t::FP8_E4M3, values, {1, 1, 2, 31}, 3).elements.empty());
    CHECK(mxfp8_quantize(DataType_t::FP8_E4M3, values, {1, 0, 2, 32}, 3).elements.empty());
    CHECK(mxfp8_scale_dim({1, 1, 2}, 2).empty());
    CHECK(mxfp8_dequantize(DataType_t::FP8_E4M3, {}, {1, 1, 2, 32}, 3).empty());
    std::vector<float> odd(64, 1.0f);
    odd[3] = std::numeric_limits<float>::quiet_NaN();
    odd[5] = std::numeric_limits<float>::infinity();
    Mxfp8 const made = mxfp8_quantize(DataType_t::FP8_E4M3, odd, {1, 1, 2, 32}, 3);
    CHECK(made.scales[0] == 127 - 8);
    std::vector<float> const back = mxfp8_dequantize(DataType_t::FP8_E4M3, made, {1, 1, 2, 32}, 3);
    CHECK(std::isnan(back[3]));
    CHECK(back[5] == 1.75f);  // the largest, 448, under the scale
    CHECK(back[4] == 1.0f);
}
