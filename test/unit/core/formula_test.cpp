// Formulas that several layers share: operands of modes, numbers as text.
#include "core/pointwise.h"
#include "core/text.h"

#include "support/catch.h"
#include "support/flush_to_zero.h"
#include "support/skip.h"

#include <limits>
#include <string>

using namespace cudnn_frontend;

TEST_CASE("modes take one, two or three operands") {
    CHECK(core::operand_count(PointwiseMode_t::EXP) == 1);
    CHECK(core::operand_count(PointwiseMode_t::GEN_INDEX) == 1);
    CHECK(core::operand_count(PointwiseMode_t::ADD) == 2);
    CHECK(core::operand_count(PointwiseMode_t::GELU_APPROX_TANH_BWD) == 2);
    CHECK(core::operand_count(PointwiseMode_t::BINARY_SELECT) == 3);
    CHECK(core::operand_count(static_cast<PointwiseMode_t>(999)) == 1);
}

TEST_CASE("numbers print with as few digits as name them") {
    CHECK(core::shortest_text(0.1f) == "0.1");
    CHECK(core::shortest_text(0.1) == "0.1");
    CHECK(core::shortest_text(static_cast<double>(0.1f)) == "0.10000000149011612");
    CHECK(core::shortest_text(-5) == "-5");
}

TEST_CASE("subnormal numbers have their text where the process flushes them to zero, which it does afterwards too") {
    if (!sdpa_test::FlushToZero::kIsHere) {
        sdpa_test::skip("no way is known to make this machine flush");
        return;
    }
    std::string of_double, of_float, of_least;
    double volatile smallest = std::numeric_limits<double>::min();
    double half = 0.0;
    {
        sdpa_test::FlushToZero const flush;
        of_double = core::shortest_text(1e-310);
        of_float = core::shortest_text(-1e-42f);
        of_least = core::shortest_text(std::numeric_limits<double>::denorm_min());
        half = smallest * 0.5;
    }
    CHECK(of_double == "1e-310");
    CHECK(of_float == "-1e-42");
    CHECK(of_least == "5e-324");
    CHECK(half == 0.0);
}
