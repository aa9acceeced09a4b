// Numbers and scalars as text: the shortest that reads back, and bits where no number represents them.
#include "json/graph_json.h"
#include "support/catch.h"
#include "support/flush_to_zero.h"
#include "support/skip.h"

#include <bit>
#include <cfenv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace cudnn_frontend;
using namespace cudnn_frontend::nodes;

namespace {

std::string scale_text(float value) {
    GraphSpec spec;
    SdpaForwardFields fields;
    fields.attn_scale = value;
    spec.nodes.push_back({{{.fields = fields}, std::vector<TensorId>(attention::PortCount, kNoTensor)}});
    std::string const text = json::write_graph(spec);
    std::string const name = "\"attn_scale\": ";
    std::size_t const start = text.find(name) + name.size();
    return text.substr(start, text.find('\n', start) - start);
}

// Nothing where it is 0, which is what a product has without it.
std::string padding_text(double value) {
    GraphSpec spec;
    MatmulFields fields;
    fields.padding_value = value;
    spec.nodes.push_back({{{.fields = fields}, std::vector<TensorId>(matmul::PortCount, kNoTensor)}});
    std::string const text = json::write_graph(spec);
    std::string const name = "\"padding_value\": ";
    std::size_t const start = text.find(name);
    if (start == std::string::npos) return {};
    std::size_t const number = start + name.size();
    return text.substr(number, text.find('\n', number) - number);
}

std::optional<std::uint64_t> bits_of_padding(std::string const& text) {
    if (text.empty()) return 0;
    auto const spec = json::read_graph(R"({"format": "sdpa-graph", "version": 1, "tensors": {}, "nodes": [
        {"tag": "MATMUL", "fields": {"padding_value": )" +
                                       text + "}}]}");
    if (spec.is_bad()) return std::nullopt;
    return std::bit_cast<std::uint64_t>(std::get<MatmulFields>(spec.value().nodes[0].fields).padding_value.value);
}

std::string scalar_text(DataType_t type, std::uint64_t bits) {
    GraphSpec spec;
    spec.tensors.emplace_back().value = detail::Scalar{type, bits};
    std::string const text = json::write_graph(spec);
    std::size_t const start = text.find("\"type\"");
    std::size_t const line = text.find('\n', start) + 1;
    std::size_t const name = text.find('"', line);
    return text.substr(name, text.find('\n', line) - name);
}

std::optional<float> read_scale(std::string const& text) {
    auto const spec = json::read_graph(R"({"format": "sdpa-graph", "version": 1, "tensors": {}, "nodes": [
        {"tag": "SDPA_FORWARD", "fields": {"attn_scale": )" +
                                       text + "}}]}");
    if (spec.is_bad()) return std::nullopt;
    return std::get<SdpaForwardFields>(spec.value().nodes[0].fields).attn_scale;
}

}  // namespace

TEST_CASE("json: a float is written with the fewest digits that read back") {
    CHECK(scale_text(0.125f) == "0.125");
    CHECK(scale_text(0.1f) == "0.1");
    CHECK(scale_text(0.088388346f) == "0.088388346");
    CHECK(scale_text(1.0f) == "1.0");
    CHECK(scale_text(-0.0f) == "-0.0");
    CHECK(scale_text(1e30f) == "1e+30");
    CHECK(scale_text(std::numeric_limits<float>::max()) == "3.4028235e+38");
    CHECK(scale_text(std::numeric_limits<float>::infinity()) == "\"inf\"");
    CHECK(scale_text(-std::numeric_limits<float>::infinity()) == "\"-inf\"");
    CHECK(scale_text(std::numeric_limits<float>::quiet_NaN()) == "\"nan\"");
}

TEST_CASE("json: a float that its shortest text misses by double rounding takes more digits") {
    float const value = std::bit_cast<float>(0x15ae43fdu);  // 7.038531e-26, as a double half-way to the next float
    REQUIRE(static_cast<float>(7.038531e-26) != value);
    REQUIRE(read_scale(scale_text(value)) == value);
}

TEST_CASE("json: every float of a spread reads back exactly") {
    for (std::uint32_t step = 0; step < 20'000; ++step) {
        float const value = std::bit_cast<float>(step * 104'729u % 0x7f800000u);
        CAPTURE(step);
        REQUIRE(read_scale(scale_text(value)) == value);
    }
}

TEST_CASE("json: floats are written and read as always where the process rounds otherwise") {
    for (int const mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        for (std::uint32_t step = 0; step < 300; ++step) {
            float const value = std::bit_cast<float>(0x3a000000u + step * 104'729u);  // from 0.0005 on
            std::string const usual = scale_text(value);
            std::fesetround(mode);
            std::string const written = scale_text(value);
            std::optional<float> const read = read_scale(usual);
            bool const is_kept = std::fegetround() == mode;
            std::fesetround(FE_TONEAREST);
            CAPTURE(mode, usual);
            REQUIRE((written == usual && read == value && is_kept));
        }
    }
}

TEST_CASE("json: floats below the normal range are kept where the process flushes such to zero") {
    if (!sdpa_test::FlushToZero::kIsHere) {
        sdpa_test::skip("no way is known to make this machine flush");
        return;
    }
    for (std::uint32_t const bits : {0x2cau, 0x1u, 0x80000001u, 0x7fffffu, 0x800000u, 0x0u, 0x80000000u}) {
        std::string written;
        std::optional<float> read;
        {
            sdpa_test::FlushToZero const flush;
            written = scale_text(std::bit_cast<float>(bits));
            read = read_scale(written);
        }
        CAPTURE(bits, written);
        REQUIRE(read.has_value());
        CHECK(std::bit_cast<std::uint32_t>(*read) == bits);
        std::optional<float> const elsewhere = read_scale(written);
        REQUIRE(elsewhere.has_value());
        CHECK(std::bit_cast<std::uint32_t>(*elsewhere) == bits);
    }
    CHECK(scale_text(std::bit_cast<float>(0x2cau)) == "1e-42");
}

TEST_CASE("json: doubles below the normal range are kept where the process flushes such to zero") {
    if (!sdpa_test::FlushToZero::kIsHere) {
        sdpa_test::skip("no way is known to make this machine flush");
        return;
    }
    constexpr std::uint64_t sign = std::uint64_t{1} << 63, normal = std::uint64_t{1} << 52;
    std::vector<std::uint64_t> patterns{0, sign, 1, sign | 1, normal - 1, normal, normal + 1};
    for (std::uint64_t bits = 1; bits < normal; bits = 3 * bits + 1) patterns.push_back(bits);
    for (std::uint64_t const bits : patterns) {
        std::string written, scalar;
        std::optional<std::uint64_t> read;
        {
            sdpa_test::FlushToZero const flush;
            written = padding_text(std::bit_cast<double>(bits));
            read = bits_of_padding(written);
            scalar = scalar_text(DataType_t::DOUBLE, bits);
        }
        CAPTURE(bits, written);
        CHECK(read == bits);
        CHECK(bits_of_padding(written) == bits);
        CHECK(written == padding_text(std::bit_cast<double>(bits)));
        CHECK(scalar == scalar_text(DataType_t::DOUBLE, bits));
    }
    sdpa_test::FlushToZero const flush;
    CHECK(padding_text(1e-310) == "1e-310");
}

TEST_CASE("json: integers are numbers too, and numbers beyond float are refused") {
    CHECK(read_scale("2") == 2.0f);
    CHECK(read_scale("3.4028235e38") == std::numeric_limits<float>::max());
    CHECK_FALSE(read_scale("3.5e38"));
    CHECK_FALSE(read_scale("1e999"));
}

TEST_CASE("json: scalars keep all their bits") {
    CHECK(scalar_text(DataType_t::FLOAT, 0x3e000000) == "\"value\": 0.125");
    CHECK(scalar_text(DataType_t::DOUBLE, 0x3fb999999999999a) == "\"value\": 0.1");
    CHECK(scalar_text(DataType_t::HALF, 0x2e66) == "\"value\": 0.099975586");
    CHECK(scalar_text(DataType_t::BFLOAT16, 0xff80) == "\"value\": \"-inf\"");
    CHECK(scalar_text(DataType_t::INT64, 0x7fffffffffffffff) == "\"value\": 9223372036854775807");
    CHECK(scalar_text(DataType_t::INT64, 0x20000000000001) == "\"value\": 9007199254740993");
    CHECK(scalar_text(DataType_t::INT32, 0xffffffff) == "\"value\": -1");
    CHECK(scalar_text(DataType_t::UINT8, 0xff) == "\"value\": 255");
}

TEST_CASE("json: a scalar that no number names is written as bits") {
    CHECK(scalar_text(DataType_t::FP8_E4M3, 0x38) == "\"bits\": 56");
    CHECK(scalar_text(DataType_t::NOT_SET, 0xffffffffffffffff) == "\"bits\": 18446744073709551615");
    CHECK(scalar_text(DataType_t::FLOAT, 0x7fc00001) == "\"bits\": 2143289345");
    CHECK(scalar_text(DataType_t::INT8, 0x100) == "\"bits\": 256");
}
