#include "unit/cpu/rig.h"

#include "attention/philox.h"
#include "core/names.h"

using namespace cudnn_frontend;
using namespace cudnn_frontend::test;

namespace {

using Mode = PointwiseMode_t;

// c[b,h,i,j] for packed tensors of the given dims, with groups of heads and batches, independent of the interpreter.
std::vector<double> direct_product(core::Dims const& a_dim, std::vector<double> const& a, core::Dims const& b_dim,
                                   std::vector<double> const& b, core::Dims const& c_dim) {
    std::vector<double> c;
    auto const at = [&c_dim](core::Dims const& dim, std::int64_t n, std::int64_t h, std::int64_t i, std::int64_t j) {
        std::int64_t const batch = n * dim[0] / c_dim[0], head = h * dim[1] / c_dim[1];
        return static_cast<std::size_t>(((batch * dim[1] + head) * dim[2] + i) * dim[3] + j);
    };
    for (std::int64_t n = 0; n < c_dim[0]; ++n)
        for (std::int64_t h = 0; h < c_dim[1]; ++h)
            for (std::int64_t i = 0; i < c_dim[2]; ++i)
                for (std::int64_t j = 0; j < c_dim[3]; ++j) {
                    double sum = 0.0;
                    for (std::int64_t k = 0; k < a_dim[3]; ++k)
                        sum += a[at(a_dim, n, h, i, k)] * b[at(b_dim, n, h, k, j)];
                    c.push_back(sum);
                }
    return c;
}

}  // namespace

TEST_CASE("matmul: a product computed by hand, with B as a transposed view and C strided") {
    Rig rig;
    auto const a = rig.in({2, 3}, {1, 2, 3, 4, 5, 6});
    auto const b = rig.in({2, 3}, {7, 8, 9, 10, 11, 12}, DataType_t::HALF);
    auto const c = rig.out_strided({2, 2}, {1, 2}, DataType_t::FLOAT);
    rig.builder.add(op(ir::MatmulOp{.a = a, .b = rig.builder.transposed(b, 0, 1), .c = c}));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(c), {50, 122, 68, 167});
}

TEST_CASE("matmul: groups of batches and heads share the entries of a smaller operand") {
    struct Case {
        core::Dims a, b;
    };
    auto const one = GENERATE(Case{{2, 6, 3, 4}, {2, 2, 4, 5}}, Case{{2, 6, 3, 4}, {1, 3, 4, 5}},
                              Case{{2, 1, 3, 4}, {2, 6, 4, 5}}, Case{{1, 2, 3, 4}, {2, 3, 4, 5}});
    core::Dims const c_dim{2, 6, 3, 5};
    Rig rig;
    auto const a = random_elements(*core::volume(one.a), 3), b = random_elements(*core::volume(one.b), 4);
    auto const c = rig.out(c_dim);
    rig.builder.add(op(ir::MatmulOp{.a = rig.in(one.a, a), .b = rig.in(one.b, b), .c = c}));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(c), direct_product(one.a, a, one.b, b, c_dim));
}

TEST_CASE("matmul: beyond the lengths C holds the padding and operands are not read") {
    Rig rig;
    // In each batch entry A is 3x2 and B is 2x3. NaN is wherever nothing may be read.
    auto const a = rig.in({2, 1, 3, 2}, {1, 2, 3, 4, kNan, kNan, /**/ 5, kNan, kNan, kNan, kNan, kNan});
    auto const b = rig.in({2, 1, 2, 3}, {1, 2, kNan, 3, 4, kNan, /**/ 10, 20, 30, kNan, kNan, kNan});
    auto const c = rig.out({2, 1, 3, 3});
    rig.builder.add(op(ir::MatmulOp{.a = a,
                                    .b = b,
                                    .c = c,
                                    .m_override = rig.in_lengths({2, 1}),
                                    .n_override = rig.in_lengths({2, 3}),
                                    .k_override = rig.in_lengths({2, 1}),
                                    .padding = -1.0}));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(c), {7, 10, -1, 15, 22, -1, -1, -1, -1, /**/ 50, 100, 150, -1, -1, -1, -1, -1, -1});
}

TEST_CASE("matmul: a length of 0 gives padding for M and N, and sums of nothing for K") {
    Rig rig;
    auto const a = rig.in({1, 1, 2, 2}, {kNan, kNan, kNan, kNan});
    auto const c = rig.out({1, 1, 2, 2}), d = rig.out({1, 1, 2, 2});
    auto const zero = rig.in_lengths({0});
    rig.builder.add(op(ir::MatmulOp{.a = a, .b = a, .c = c, .k_override = zero, .padding = 7.0}));
    rig.builder.add(op(ir::MatmulOp{.a = a, .b = a, .c = d, .m_override = zero, .padding = 7.0}));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(c), {0, 0, 0, 0});
    check_close(rig.read(d), {7, 7, 7, 7});
}

TEST_CASE("reduction: each mode over the last dim") {
    struct Case {
        ReductionMode_t mode;
        double expected;
    };
    auto const one =
        GENERATE(Case{ReductionMode_t::ADD, 1}, Case{ReductionMode_t::MUL, 0}, Case{ReductionMode_t::MIN, -4},
                 Case{ReductionMode_t::MAX, 3}, Case{ReductionMode_t::AMAX, 4}, Case{ReductionMode_t::AVG, 0.25},
                 Case{ReductionMode_t::NORM1, 9}, Case{ReductionMode_t::NORM2, 5.385164807134504},
                 Case{ReductionMode_t::MUL_NO_ZEROS, -24});
    INFO(core::name_of(one.mode));
    Rig rig;
    auto const y = rig.out({2, 1});
    rig.builder.add(op(ir::ReductionOp{.mode = one.mode, .x = rig.in({2, 4}, {0, 3, -4, 2, 5, 5, 5, 5}), .y = y}));
    REQUIRE(rig.run().get_message() == "");
    CHECK(rig.read(y)[0] == Approx(one.expected));
}

TEST_CASE("reduction: NaN and infinities reach the maximum and the minimum") {
    for (auto const mode : {ReductionMode_t::MAX, ReductionMode_t::MIN}) {
        Rig rig;
        auto const x =
            rig.in({3, 3}, {1, kNan, 2, -kInfinity, -kInfinity, -kInfinity, kInfinity, kInfinity, kInfinity});
        auto const y = rig.out({3, 1});
        rig.builder.add(op(ir::ReductionOp{.mode = mode, .x = x, .y = y}));
        REQUIRE(rig.run().get_message() == "");
        check_close(rig.read(y), {kNan, -kInfinity, kInfinity});
    }
}

TEST_CASE("reduction: neighbors are folded in every dim where y is smaller") {
    core::Dims const x_dim{2, 6, 2, 300}, y_dim{1, 2, 2, 3};
    auto const elements = random_elements(*core::volume(x_dim), 5);
    std::vector<double> expected(12, 0.0);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        std::size_t const h = i / 600 % 6 / 3, s = i / 300 % 2, j = i % 300 / 100;
        expected[(h * 2 + s) * 3 + j] += elements[i];
    }
    Rig rig;
    auto const y = rig.out(y_dim);
    rig.builder.add(op(ir::ReductionOp{.mode = ReductionMode_t::ADD, .x = rig.in(x_dim, elements), .y = y}));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(y), expected);
}

TEST_CASE("generator: the documented mask, with all 64 bits of seed and offset") {
    constexpr std::int64_t seed = (std::int64_t{1} << 60) + 1, offset = -7;
    auto const mask_of = [&](std::int64_t seed_value) {
        Rig rig;
        auto const y = rig.out({2, 3, 5, 270}, DataType_t::FLOAT);
        rig.builder.add(op(ir::RngOp{.seed = rig.builder.constant("seed", detail::make_scalar(seed_value)),
                                     .offset = rig.builder.constant("offset", detail::make_scalar(offset)),
                                     .y = y,
                                     .probability = 0.75}));
        REQUIRE(rig.run().get_message() == "");
        return rig.read(y);
    };
    attention::PhiloxMask const mask(seed, offset, 0.75, 270);
    auto const actual = mask_of(seed);
    bool is_same = true;
    double kept = 0.0;
    for (std::int64_t i = 0; i < 2 * 3 * 5 * 270; ++i) {
        double const value = actual[static_cast<std::size_t>(i)];
        is_same = is_same && value == (mask.keeps(i / 270, i % 270) ? 1.0 : 0.0);
        kept += value;
    }
    CHECK(is_same);
    CHECK(kept / 8100.0 == Approx(0.75).margin(0.03));
    CHECK(actual != mask_of(seed - 1));
}

TEST_CASE("reshape: elements keep their order in memory, gaps left out") {
    Rig rig;
    auto const x = rig.in_strided({2, 3}, {4, 1}, {1, 2, 3, kNan, 4, 5, 6});
    auto const transposed = rig.temp({3, 2});
    auto const packed = rig.out({3, 2}), strided = rig.out_strided({3, 2}, {1, 3});
    rig.builder.add(op(ir::ReshapeOp{.x = x, .y = packed}));
    rig.builder.add(op(ir::ReshapeOp{.x = x, .y = strided}));
    rig.builder.add(op(ir::ReshapeOp{.x = strided, .y = transposed}));
    auto const again = rig.out({3, 2});
    rig.builder.add(pointwise(Mode::IDENTITY, transposed, again));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(packed), {1, 2, 3, 4, 5, 6});
    check_close(rig.read(strided), {1, 2, 3, 4, 5, 6});  // so that element (i, j) is x's element (j, i)
    check_close(rig.read(again), {1, 2, 3, 4, 5, 6});
}

TEST_CASE("reshape: a transposition through strides") {
    Rig rig;
    auto const p = rig.in({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
    ir::Value value = temporary("p_transposed", {1, 1, 3, 2});
    value.stride = {6, 6, 1, 3};
    auto const pt = rig.builder.add(value);
    auto const y = rig.out({1, 1, 3, 2});
    rig.builder.add(op(ir::ReshapeOp{.x = p, .y = pt}));
    rig.builder.add(pointwise(Mode::IDENTITY, pt, y));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(y), {1, 4, 2, 5, 3, 6});
}

TEST_CASE("softmax built of operations equals a direct loop, with a masked row") {
    constexpr std::int64_t rows = 4, columns = 7;
    auto scores = random_elements(rows * columns, 6);
    std::fill_n(scores.begin() + 2 * columns, columns, -kInfinity);  // row 2
    scores[3] = -kInfinity;

    Rig rig;
    core::Dims const full{1, 1, rows, columns}, thin{1, 1, rows, 1};
    auto const s = rig.in(full, scores), most = rig.temp(thin), shifted = rig.temp(full), e = rig.temp(full);
    auto const z = rig.temp(thin), log_z = rig.temp(thin), stats = rig.out(thin), p = rig.out(full);
    auto const masked = [&](Mode mode, ir::ValueId a, ir::ValueId b, ir::ValueId out, ir::MaskedBy by) {
        rig.builder.add(op(ir::PointwiseOp{{.mode = mode, .masked_by = by}, {a, b, ir::kNoValue}, out}));
    };
    rig.builder.add(op(ir::ReductionOp{.mode = ReductionMode_t::MAX, .x = s, .y = most}));
    masked(Mode::SUB, s, most, shifted, ir::MaskedBy::Either);
    rig.builder.add(pointwise(Mode::EXP, shifted, e));
    rig.builder.add(op(ir::ReductionOp{.mode = ReductionMode_t::ADD, .x = e, .y = z}));
    rig.builder.add(pointwise(Mode::LOG, z, log_z));
    rig.builder.add(pointwise(Mode::ADD, log_z, most, stats));
    masked(Mode::DIV, e, z, p, ir::MaskedBy::First);
    REQUIRE(rig.run().get_message() == "");

    std::vector<double> expected_p, expected_stats;
    for (std::int64_t i = 0; i < rows; ++i) {
        auto const row = scores.begin() + i * columns;
        double sum = 0.0;
        for (auto x = row; x != row + columns; ++x) sum += std::exp(*x);
        for (auto x = row; x != row + columns; ++x) expected_p.push_back(sum == 0.0 ? 0.0 : std::exp(*x) / sum);
        expected_stats.push_back(std::log(sum));
    }
    CHECK(expected_stats[2] == -kInfinity);
    check_close(rig.read(p), expected_p);
    check_close(rig.read(stats), expected_stats);
}

TEST_CASE("interpreter: a reduction with lengths stops at them") {
    Rig rig;
    double const nan = std::nan("");
    auto const x = rig.in({3, 2, 2, 1}, {1, nan, 2, nan, nan, nan, nan, nan, 3, 4, 5, 6});
    auto const y = rig.out({1, 2, 1, 1});
    rig.builder.add(
        op(ir::ReductionOp{.mode = ReductionMode_t::ADD, .x = x, .y = y, .rows = rig.in_lengths({1, 0, 2})}));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(y), {8, 13});
}

TEST_CASE("interpreter: lengths of a reduction are within its rows") {
    Rig rig;
    auto const x = rig.in({2, 1, 3, 1}, {1, 2, 3, 4, 5, 6}), y = rig.out({1, 1, 1, 1});
    rig.builder.add(op(ir::ReductionOp{.mode = ReductionMode_t::ADD, .x = x, .y = y, .rows = rig.in_lengths({3, 4})}));
    CHECK(rig.run().get_message().find("found the length 4 for batch entry 1; expected lengths from 0 to 3") !=
          std::string::npos);
    CHECK(rig.is_untouched(y));
}

TEST_CASE("interpreter: a product whose first factor masks leaves out its zeros") {
    Rig rig;
    double const nan = std::nan("");
    auto const a = rig.in({2, 3}, {0, 2, 3, 0, 0, 1}), b = rig.in({3, 2}, {nan, kInfinity, 1, nan, 4, 0});
    auto const plain = rig.out({2, 2}), masked = rig.out({2, 2});
    rig.builder.add(op(ir::MatmulOp{.a = a, .b = b, .c = plain}));
    rig.builder.add(op(ir::MatmulOp{.a = a, .b = b, .c = masked, .a_masks = true}));
    REQUIRE(rig.run().get_message() == "");
    check_close(rig.read(plain), {nan, nan, nan, nan});
    check_close(rig.read(masked), {14, nan, 4, 0});
}
