#include "unit/cpu/rig.h"

#include "core/names.h"

#include <limits>

using namespace cudnn_frontend;
using namespace cudnn_frontend::test;

namespace {

using Mode = PointwiseMode_t;

std::vector<double> evaluate(ir::PointwiseFunction const& function, std::vector<std::vector<double>> const& operands) {
    ir::PointwiseOp op{function};
    Rig rig;
    auto const count = static_cast<std::int64_t>(operands[0].size());
    for (std::size_t i = 0; i < operands.size(); ++i) op.in[i] = rig.in({1, count}, operands[i]);
    op.out = rig.out({1, count});
    rig.builder.add(test::op(op));
    REQUIRE(rig.run().get_message() == "");
    return rig.read(op.out);
}

struct Case {
    ir::PointwiseFunction op;
    std::vector<std::vector<double>> operands;
    std::vector<double> expected;
};

}  // namespace

TEST_CASE("pointwise: each mode against values computed by hand") {
    std::vector<Case> const cases = {
        {{.mode = Mode::ADD}, {{1, kInfinity}, {0.5, -kInfinity}}, {1.5, kNan}},
        {{.mode = Mode::SUB}, {{1, -kInfinity}, {0.5, -kInfinity}}, {0.5, kNan}},
        {{.mode = Mode::MUL}, {{3, 0}, {-2, kInfinity}}, {-6, kNan}},
        {{.mode = Mode::DIV}, {{3, 1, 0}, {-2, 0, 0}}, {-1.5, kInfinity, kNan}},
        {{.mode = Mode::MAX}, {{3, kNan, 1, -1}, {4, 1, kNan, -2}}, {4, kNan, kNan, -1}},
        {{.mode = Mode::MIN}, {{3, kNan, 1, -1}, {4, 1, kNan, -2}}, {3, kNan, kNan, -2}},
        {{.mode = Mode::MOD}, {{7, -7}, {4, 4}}, {3, -3}},
        {{.mode = Mode::POW}, {{2, 9}, {10, 0.5}}, {1024, 3}},
        {{.mode = Mode::ADD_SQUARE}, {{1, 2}, {3, -4}}, {10, 18}},
        {{.mode = Mode::SQRT}, {{9, -1}}, {3, kNan}},
        {{.mode = Mode::RSQRT}, {{4, 0}}, {0.5, kInfinity}},
        {{.mode = Mode::RECIPROCAL}, {{4, -0.5}}, {0.25, -2}},
        {{.mode = Mode::EXP}, {{0, 1, -kInfinity}}, {1, 2.718281828459045, 0}},
        {{.mode = Mode::LOG}, {{1, 10, 0}}, {0, 2.302585092994046, -kInfinity}},
        {{.mode = Mode::NEG}, {{2, -3}}, {-2, 3}},
        {{.mode = Mode::ABS}, {{2, -3}}, {2, 3}},
        {{.mode = Mode::CEIL}, {{1.2, -1.2}}, {2, -1}},
        {{.mode = Mode::FLOOR}, {{1.2, -1.2}}, {1, -2}},
        {{.mode = Mode::SIN}, {{0.5}}, {0.479425538604203}},
        {{.mode = Mode::COS}, {{0.5}}, {0.8775825618903728}},
        {{.mode = Mode::TAN}, {{0.5}}, {0.5463024898437905}},
        {{.mode = Mode::ERF}, {{0.5}}, {0.5204998778130465}},
        {{.mode = Mode::IDENTITY}, {{0.1, kNan}}, {0.1, kNan}},
        {{.mode = Mode::CMP_EQ}, {{1, 2, kNan}, {1, 1, kNan}}, {1, 0, 0}},
        {{.mode = Mode::CMP_NEQ}, {{1, 2, kNan}, {1, 1, kNan}}, {0, 1, 1}},
        {{.mode = Mode::CMP_GT}, {{1, 2, 0}, {1, 1, 1}}, {0, 1, 0}},
        {{.mode = Mode::CMP_GE}, {{1, 2, 0}, {1, 1, 1}}, {1, 1, 0}},
        {{.mode = Mode::CMP_LT}, {{1, 2, 0}, {1, 1, 1}}, {0, 0, 1}},
        {{.mode = Mode::CMP_LE}, {{1, 2, 0}, {1, 1, 1}}, {1, 0, 1}},
        {{.mode = Mode::LOGICAL_AND}, {{0, 1, 2, 0}, {0, 0, 3, 1}}, {0, 0, 1, 0}},
        {{.mode = Mode::LOGICAL_OR}, {{0, 1, 2, 0}, {0, 0, 3, 1}}, {0, 1, 1, 1}},
        {{.mode = Mode::LOGICAL_NOT}, {{0, 1, 2}}, {1, 0, 0}},
        {{.mode = Mode::BINARY_SELECT}, {{1, 2, 3}, {-kInfinity, 5, kNan}, {0, 1, 2}}, {-kInfinity, 2, 3}},
        {{.mode = Mode::RELU_FWD}, {{-2, 0, 3, -kInfinity, kNan}}, {0, 0, 3, 0, kNan}},
        {{.mode = Mode::RELU_FWD, .relu_lower_clip = 1.0f, .relu_upper_clip = 6.0f, .relu_lower_clip_slope = 0.5f},
         {{-3, 1, 3, 7}},
         {-1, 1, 3, 6}},
        {{.mode = Mode::TANH_FWD}, {{0.5}}, {0.46211715726000973}},
        {{.mode = Mode::SIGMOID_FWD}, {{0.5, -800}}, {0.6224593312018546, 0}},
        {{.mode = Mode::ELU_FWD}, {{-1, 2}}, {-0.6321205588285577, 2}},
        {{.mode = Mode::ELU_FWD, .elu_alpha = 2.0f}, {{-1, 2}}, {-1.2642411176571153, 2}},
        {{.mode = Mode::GELU_FWD}, {{0.5, -1}}, {0.34573123063700656, -0.15865525393145707}},
        {{.mode = Mode::GELU_APPROX_TANH_FWD}, {{0.5, -1}}, {0.34571400982514394, -0.15880800939172324}},
        {{.mode = Mode::SOFTPLUS_FWD}, {{0, 800}}, {0.6931471805599453, 800}},
        {{.mode = Mode::SOFTPLUS_FWD, .softplus_beta = 2.0f}, {{1}}, {1.0634640055214863}},
        {{.mode = Mode::SWISH_FWD}, {{0.5}}, {0.3112296656009273}},
        {{.mode = Mode::SWISH_FWD, .swish_beta = 2.0f}, {{0.5}}, {0.36552928931500245}},
        {{.mode = Mode::RELU_BWD, .relu_upper_clip = 6.0f, .relu_lower_clip_slope = 0.5f},
         {{2, 2, 2}, {-1, 1, 7}},
         {1, 2, 0}},
        {{.mode = Mode::RELU_BWD}, {{5, 5}, {std::numeric_limits<double>::infinity(), -1}}, {5, 0}},
    };
    for (Case const& one : cases) {
        INFO(core::name_of(one.op.mode));
        check_close(evaluate(one.op, one.operands), one.expected);
    }
}

TEST_CASE("pointwise: backward modes are the derivatives of the forward modes times dy") {
    struct Pair {
        Mode forward, backward;
    };
    Pair const pairs[] = {{Mode::TANH_FWD, Mode::TANH_BWD},
                          {Mode::SIGMOID_FWD, Mode::SIGMOID_BWD},
                          {Mode::ELU_FWD, Mode::ELU_BWD},
                          {Mode::GELU_FWD, Mode::GELU_BWD},
                          {Mode::GELU_APPROX_TANH_FWD, Mode::GELU_APPROX_TANH_BWD},
                          {Mode::SOFTPLUS_FWD, Mode::SOFTPLUS_BWD},
                          {Mode::SWISH_FWD, Mode::SWISH_BWD},
                          {Mode::RELU_FWD, Mode::RELU_BWD}};
    std::vector<double> const x{-1.7, -0.3, 0.4, 1.1, 2.6}, dy{1.0, -2.0, 0.5, 3.0, 0.25};
    double const step = 1e-5;
    for (Pair const& pair : pairs) {
        INFO(core::name_of(pair.backward));
        ir::PointwiseFunction op{.elu_alpha = 1.5f, .softplus_beta = 0.75f};
        op.swish_beta = 1.25f;
        op.relu_upper_clip = 2.0f;
        op.relu_lower_clip_slope = 0.125f;
        std::vector<double> above = x, below = x, expected(x.size());
        for (double& v : above) v += step;
        for (double& v : below) v -= step;
        op.mode = pair.forward;
        auto const high = evaluate(op, {above}), low = evaluate(op, {below});
        for (std::size_t i = 0; i < x.size(); ++i) expected[i] = dy[i] * (high[i] - low[i]) / (2.0 * step);
        op.mode = pair.backward;
        check_close(evaluate(op, {dy, x}), expected, 1e-8);
    }
}

TEST_CASE("pointwise: what an operand says is masked stays so, whatever the other one is") {
    using ir::MaskedBy;
    ir::PointwiseFunction op{.mode = Mode::SUB, .masked_by = MaskedBy::Either};
    check_close(evaluate(op, {{-kInfinity, 1, -kInfinity, kInfinity, -kInfinity, kNan, kNan},
                              {-kInfinity, -kInfinity, 2, kInfinity, kNan, -kInfinity, 1}}),
                {-kInfinity, -kInfinity, -kInfinity, kNan, -kInfinity, -kInfinity, kNan});
    op = {.mode = Mode::DIV, .masked_by = MaskedBy::First};
    check_close(evaluate(op, {{0, 1, 0, 0, kNan}, {0, 0, 2, kNan, 0}}), {0, kInfinity, 0, 0, kNan});
    std::vector<double> const a{0, 2, 0, 0, kNan, 3}, b{kNan, 0, kInfinity, 5, 0, 4};
    auto const product = [&](MaskedBy by) { return evaluate({.mode = Mode::MUL, .masked_by = by}, {a, b}); };
    check_close(product(MaskedBy::Neither), {kNan, 0, kNan, 0, kNan, 12});
    check_close(product(MaskedBy::First), {0, 0, 0, 0, kNan, 12});
    check_close(product(MaskedBy::Second), {kNan, 0, kNan, 0, 0, 12});
    check_close(product(MaskedBy::Either), {0, 0, 0, 0, 0, 12});
}

TEST_CASE("pointwise: operands of fewer dims and of size 1 are repeated") {
    Rig rig;
    auto const a = rig.in({2, 1, 3}, {1, 2, 3, 4, 5, 6});
    auto const b = rig.in({2, 1}, {10, 20});
    auto const c = rig.out_strided({2, 2, 3}, {1, 2, 4});
    rig.builder.add(pointwise(Mode::ADD, a, b, c));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(c), {11, 14, 21, 24, 12, 15, 22, 25, 13, 16, 23, 26});
}

TEST_CASE("pointwise: eight dims and rows longer than one buffer") {
    Rig rig;
    auto const elements = random_elements(2 * 2 * 700, 1);
    auto const x = rig.in({1, 2, 1, 1, 2, 1, 1, 700}, elements);
    auto const y = rig.out({1, 2, 1, 1, 2, 1, 1, 700});
    rig.builder.add(pointwise(Mode::MUL, x, rig.constant(-2.0f), y));
    REQUIRE(rig.run().get_message() == "");
    auto expected = elements;
    for (double& v : expected) v *= -2.0;
    check_close(rig.read(y), expected);
}

TEST_CASE("pointwise: GEN_INDEX gives the index along its axis") {
    auto const indices = [](std::int64_t axis) {
        Rig rig;
        auto const x = rig.in({2, 2, 2, 300}, random_elements(2400, 2));
        auto const y = rig.out({2, 2, 2, 300}, DataType_t::INT32);
        rig.builder.add(
            op(ir::PointwiseOp{{.mode = Mode::GEN_INDEX, .axis = axis}, {x, ir::kNoValue, ir::kNoValue}, y}));
        REQUIRE(rig.run().get_message() == "");
        return rig.read(y);
    };
    std::vector<double> rows, columns;
    for (int i = 0; i < 2400; ++i) {
        rows.push_back(i / 300 % 2);
        columns.push_back(i % 300);
    }
    check_close(indices(2), rows);
    check_close(indices(3), columns);
}

TEST_CASE("pointwise: elements are rounded where the caller gets them and not in between") {
    Rig rig;
    auto const x = rig.in({1, 2}, {1.0, 1.0}, DataType_t::HALF);
    auto const sum = rig.out_strided({1, 2}, {7, 3}, DataType_t::BFLOAT16);
    auto const difference = rig.out({1, 2}), transposed = rig.out({2, 1});
    rig.builder.add(pointwise(Mode::ADD, x, rig.constant(1e-6f), sum));
    rig.builder.add(pointwise(Mode::SUB, sum, x, difference));
    rig.builder.add(pointwise(Mode::SUB, rig.builder.transposed(sum, 0, 1), rig.constant(1.0f), transposed));
    REQUIRE(rig.run().get_message() == "");
    auto const rounded = rig.read(sum);
    REQUIRE(rounded.size() == 4);
    CHECK(rounded[0] == 1.0);
    CHECK(rounded[3] == 1.0);
    CHECK(rounded[1] == core::load(DataType_t::BFLOAT16, "\xa5\xa5", 0));  // between the elements nothing is written
    check_close(rig.read(difference), {double{1e-6f}, double{1e-6f}}, 1e-15);
    check_close(rig.read(transposed), {double{1e-6f}, double{1e-6f}}, 1e-15);
}

TEST_CASE("pointwise: 8-bit results are rounded where they stand") {
    Rig rig;
    auto const x = rig.in({1, 2}, {1.0, 17.0}), y = rig.out({1, 2});
    auto const narrow = rig.out({1, 2}, DataType_t::FP8_E4M3);
    rig.builder.add(pointwise(Mode::ADD, x, rig.constant(0.01f), narrow));
    rig.builder.add(pointwise(Mode::SUB, narrow, x, y));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(y), {0.0, 1.0});
}
