#include "support/catch.h"
#include "unit/ir/values.h"

#include <algorithm>

using namespace cudnn_frontend;
using namespace cudnn_frontend::test;

namespace {

using Mode = PointwiseMode_t;

struct Draft : ir::Builder {
    ir::ValueId in(core::Dims dim) {
        std::int64_t const uid = next_uid++;
        return add(input("in" + std::to_string(uid), std::move(dim), uid));
    }
    ir::ValueId out(core::Dims dim) {
        std::int64_t const uid = next_uid++;
        return add(output("out" + std::to_string(uid), std::move(dim), uid));
    }
    ir::ValueId temp(core::Dims dim) { return add(temporary("temp", dim)); }
    using ir::Builder::add;

    std::int64_t next_uid = 1;
};

std::string fault_of(Draft&& draft) {
    error_object const error = std::move(draft).finish().error();
    CHECK((error.is_good() || error.get_code() == error_code_t::INVALID_VALUE));
    return error.get_message();
}

void check_says(Draft&& draft, std::string const& part) {
    std::string const message = fault_of(std::move(draft));
    CAPTURE(message, part);
    CHECK(std::ranges::count(message, '\n') == 1);  // one fault below the heading
    CHECK(message.find(part) != std::string::npos);
}

// A graph of one operation between values of the given dims, the last one the result.
Draft unary_draft(ir::Value value) {
    Draft draft;
    auto const x = draft.add(std::move(value));
    draft.add(pointwise(Mode::EXP, x, draft.out({2, 3})));
    return draft;
}

Draft matmul_draft(core::Dims a, core::Dims b, core::Dims c) {
    Draft draft;
    auto const x = draft.in(a), y = draft.in(b), z = draft.out(c);
    draft.add(op(ir::MatmulOp{.a = x, .b = y, .c = z}, "product"));
    return draft;
}

Draft pointwise_draft(ir::PointwiseFunction const& function, std::vector<core::Dims> const& in, core::Dims out) {
    ir::PointwiseOp body{function};
    Draft draft;
    for (std::size_t i = 0; i < in.size(); ++i) body.in[i] = draft.in(in[i]);
    body.out = draft.out(out);
    draft.add(op(body));
    return draft;
}

struct Attention {
    Draft draft;
    ir::SdpaForwardOp body;

    Attention() {
        body.operands[Port::Q] = draft.in({2, 4, 5, 8});
        body.operands[Port::K] = draft.in({2, 2, 7, 8});
        body.operands[Port::V] = draft.in({2, 1, 7, 6});
        body.operands[Port::O] = draft.out({2, 4, 5, 6});
    }
    Draft finish() && {
        draft.add(op(body));
        return std::move(draft);
    }
};

// Forward attention, changed.
template <class Change>
Draft forward(Change const& change) {
    Attention attention;
    change(attention.draft, attention.body);
    return std::move(attention).finish();
}

}  // namespace

TEST_CASE("a graph without faults passes") {
    CHECK(fault_of(unary_draft(input("x", {2, 3}, 9))) == "");
    CHECK(fault_of(matmul_draft({2, 4, 3, 5}, {2, 2, 5, 6}, {2, 4, 3, 6})) == "");
    CHECK(fault_of(pointwise_draft({.mode = Mode::BINARY_SELECT}, {{2, 3}, {1}, {2, 1}}, {2, 3})) == "");
    CHECK(fault_of(std::move(Attention()).finish()) == "");
    CHECK(fault_of(Draft()) == "");
}

TEST_CASE("five faults are reported together") {
    Draft draft;
    auto const x = draft.in({2, 3}), y = draft.in({4, 4}), t = draft.temp({2, 3}), z = draft.out({2, 3});
    draft.add(pointwise(Mode::ADD, x, y, z));                // no broadcast
    draft.add(pointwise(Mode::EXP, t, z));                   // read before write; second writer
    draft.add(op(ir::ReductionOp{.x = x, .y = 77}));         // no such value
    draft.add(pointwise(Mode::SUB, x, draft.temp({2, 3})));  // lacks an operand
    error_object const error = std::move(draft).finish().error();
    CHECK(error.get_message() ==
          "The op graph is wrong:\n"
          "  op 0 ADD: found in_1 = %1 in2 [4, 4]; expected each dim to be 1 or that of [2, 3].\n"
          "  op 2 REDUCE: found y = %77; expected values %0 to %4.\n"
          "  op 3 SUB: found no operand; expected in_1.\n"
          "  op 1 EXP: found in_0 = %2 temp, read before an operation has written it; expected the operation that does "
          "in front.\n"
          "  op 1 EXP: found out = %3 out3, which op 0 has written already; expected a value of its own for each "
          "result.");
}

TEST_CASE("the place of the first fault is named") {
    error_object const at_op = matmul_draft({2, 3}, {4, 5}, {2, 5}).finish().error();
    CHECK(at_op.where.node == "op 0 MATMUL 'product'");
    error_object const at_value = unary_draft(input("x", {2, 0}, 9)).finish().error();
    CHECK(at_value.where.node == "%0 x");
}

TEST_CASE("values: layout, type and scalars") {
    check_says(unary_draft(input("x", {2, 0}, 9)),
               "%0 x: found dims [2, 0], strides [0, 1]; expected dims of 1 or more");
    check_says(unary_draft(input("x", {}, 9)),
               "%0 x: found dims [], strides []; expected 1 to 8 dims and one stride for each");
    CHECK(fault_of(unary_draft(input("x", core::Dims(9, 1), 9))).find("expected 1 to 8 dims") != std::string::npos);

    ir::Value value = input("x", {2, 3}, 9);
    value.stride = {-3, 1};
    check_says(unary_draft(value), "strides [-3, 1]; expected dims of 1 or more and strides of 0 or more");
    value.stride = {std::int64_t{1} << 62, std::int64_t{1} << 62};
    check_says(unary_draft(value), "expected no more elements than 64 bits can count");
    value = input("x", {2, 3}, 9);
    value.type = DataType_t::NOT_SET;
    check_says(unary_draft(value), "%0 x: found no data type");
    check_says(unary_draft(make_value(ir::Role::ByValue, "s", {2, 1}, 9)), "%0 s: found a scalar with dims");

    value = make_value(ir::Role::Constant, "c", {1, 1});
    value.constant = detail::make_scalar(std::int64_t{1});
    check_says(unary_draft(value), "found the type FLOAT and a constant of type INT64");
}

TEST_CASE("values: uids") {
    check_says(unary_draft(input("x", {2, 3}, -1)), "%0 x: found memory of the caller with the uid -1");
    check_says(unary_draft(input("x", {2, 3}, 1)), "%1 out1: found uid 1, which %0 x has too");
}

TEST_CASE("values: views") {
    auto const view_draft = [](auto const& change) {
        Draft draft;
        auto const x = draft.in({2, 3});
        ir::Value view = draft.value(x);
        view.name = "view";
        view.view_of = x;
        change(view);
        auto const id = draft.add(view);
        draft.add(pointwise(Mode::EXP, id, draft.out(view.dim)));
        return draft;
    };
    CHECK(fault_of(view_draft([](ir::Value&) {})) == "");
    check_says(view_draft([](ir::Value& view) { view.view_of = 1; }),
               "%1 view: found a view of %1; expected a view of a value that was");
    check_says(view_draft([](ir::Value& view) { view.view_of = 5; }), "%1 view: found a view of %5");
    check_says(view_draft([](ir::Value& view) { view.type = DataType_t::HALF; }), "differs from it in type or role");
    check_says(view_draft([](ir::Value& view) {
                   view.stride = {4, 1};
               }),
               "which reach element 6 of %0 in1; expected elements up to 5");
}

TEST_CASE("order: results are written once, before they are read, and never into inputs") {
    Draft unwritten;
    unwritten.out({2, 3});
    check_says(std::move(unwritten), "%0 out1: found an output that no operation writes");

    Draft into_input;
    auto const x = into_input.in({2, 3}), y = into_input.in({2, 3});
    into_input.add(pointwise(Mode::EXP, x, y));
    check_says(std::move(into_input), "op 0 EXP: found out = %1 in2, an input or a scalar");

    Draft through_view;
    auto const source = through_view.in({3, 3}), result = through_view.out({3, 3});
    through_view.add(pointwise(Mode::EXP, source, result));
    through_view.add(pointwise(Mode::EXP, source, through_view.transposed(result, 0, 1)));
    check_says(std::move(through_view), "op 1 EXP: found out = %2 out2^T, which op 0 has written already");

    Draft overlapping;
    auto const from = overlapping.in({2, 3});
    ir::Value to = output("y", {2, 3}, 5);
    to.stride = {0, 1};
    overlapping.add(pointwise(Mode::EXP, from, overlapping.add(to)));
    check_says(std::move(overlapping),
               "found out = %1 y [2, 3] with strides [0, 1]; expected strides under which no two");
}

TEST_CASE("matmul: the last two dims fit and batch dims divide those of the result") {
    check_says(matmul_draft({2, 3}, {4, 5}, {2, 5}),
               "op 0 MATMUL 'product': found a = %0 in1 [2, 3], b = %1 in2 [4, 5], c = "
               "%2 out3 [2, 5]; expected the last two dims to be [M, K], [K, N] and [M, N]");
    check_says(matmul_draft({2, 3}, {3, 5}, {4, 5}), "to be [M, K]");
    check_says(matmul_draft({1, 2, 3}, {3, 5}, {1, 2, 5}), "expected one rank of at least 2");
    check_says(matmul_draft({4, 2, 3}, {3, 3, 5}, {4, 2, 5}), "dim 0 of a and of b to divide that of c, 4");
    check_says(matmul_draft({8, 2, 3}, {4, 3, 5}, {4, 2, 5}), "dim 0 of a and of b to divide that of c, 4");
}

TEST_CASE("matmul: overrides are integers, one for each batch entry") {
    auto const with_override = [](ir::Value value) {
        Draft draft;
        auto const a = draft.in({2, 1, 3, 4}), b = draft.in({2, 1, 4, 5}), c = draft.out({2, 1, 3, 5});
        draft.add(op(ir::MatmulOp{.a = a, .b = b, .c = c, .m_override = draft.add(std::move(value))}));
        return draft;
    };
    CHECK(fault_of(with_override(lengths("len", 2, 9))) == "");
    check_says(with_override(lengths("len", 3, 9)), "m_override = %3 len [3, 1, 1, 1]; expected [2, 1, 1, 1]");
    check_says(with_override(input("len", {2, 1, 1, 1}, 9)), "of type FLOAT; expected INT32 or INT64");
}

TEST_CASE("pointwise: operands of the mode, broadcast, and the axis of GEN_INDEX") {
    check_says(pointwise_draft({.mode = Mode::ADD}, {{2, 3}}, {2, 3}), "op 0 ADD: found no operand; expected in_1");
    check_says(pointwise_draft({.mode = Mode::EXP}, {{2, 3}, {2, 3}}, {2, 3}), "found in_1; expected 1 operand");
    check_says(pointwise_draft({.mode = Mode::BINARY_SELECT}, {{2, 3}, {2, 3}}, {2, 3}),
               "BINARY_SELECT: found no operand; expected in_2");
    check_says(pointwise_draft({}, {{2, 3}}, {2, 3}), "op 0 POINTWISE: found no mode");
    check_says(pointwise_draft({.mode = Mode::EXP}, {{2, 2, 3}}, {2, 3}), "each dim to be 1 or that of [2, 3]");
    check_says(pointwise_draft({.mode = Mode::GEN_INDEX}, {{2, 3}}, {2, 3}), "found axis -1; expected 0 to 1");
    check_says(pointwise_draft({.mode = Mode::GEN_INDEX, .axis = 2}, {{2, 3}}, {2, 3}),
               "found axis 2; expected 0 to 1");
}

TEST_CASE("reduction, generator and reshape") {
    auto const reduction = [](core::Dims x, core::Dims y, ReductionMode_t mode = ReductionMode_t::ADD) {
        Draft draft;
        auto const in = draft.in(x), out = draft.out(y);
        draft.add(op(ir::ReductionOp{.mode = mode, .x = in, .y = out}));
        return draft;
    };
    CHECK(fault_of(reduction({6, 4}, {2, 1})) == "");
    check_says(reduction({6, 4}, {4, 1}), "as many dims of y as of x, each a divisor");
    check_says(reduction({6, 4}, {6}), "as many dims of y as of x");
    check_says(reduction({6, 4}, {6, 1}, ReductionMode_t::NOT_SET), "op 0 REDUCE: found no mode");

    auto const with_rows = [](core::Dims x, core::Dims y, std::int64_t entries) {
        Draft draft;
        auto const in = draft.in(x), out = draft.out(y), counts = draft.add(lengths("len", entries, 9));
        draft.add(op(ir::ReductionOp{.mode = ReductionMode_t::ADD, .x = in, .y = out, .rows = counts}));
        return draft;
    };
    CHECK(fault_of(with_rows({2, 4, 6, 1}, {1, 4, 1, 1}, 2)) == "");
    check_says(with_rows({2, 4, 6, 1}, {1, 4, 1, 1}, 3), "expected [2, 1, 1, 1]");
    check_says(with_rows({2, 4, 6, 1}, {1, 4, 6, 1}, 2), "in y 1 for the first and third");
    check_says(with_rows({2, 6}, {1, 1}, 2), "four dims with rows");

    auto const reshape = [](core::Dims x, core::Dims y) {
        Draft draft;
        auto const in = draft.in(x), out = draft.out(y);
        draft.add(op(ir::ReshapeOp{.x = in, .y = out}));
        return draft;
    };
    CHECK(fault_of(reshape({2, 6}, {3, 4})) == "");
    check_says(reshape({2, 6}, {3, 5}), "the same number of elements");

    auto const rng = [](ir::Value seed, double probability) {
        Draft draft;
        auto const s = draft.add(std::move(seed)), o = draft.constant("offset", detail::make_scalar(std::int64_t{1}));
        draft.add(op(ir::RngOp{.seed = s, .offset = o, .y = draft.out({2, 3}), .probability = probability}));
        return draft;
    };
    CHECK(fault_of(rng(lengths("seed", 1, 9), 0.5)) == "");
    check_says(rng(lengths("seed", 2, 9), 0.5), "found seed = %0 seed [2, 1, 1, 1]; expected one element");
    check_says(rng(input("seed", {1}, 9), 0.5), "found seed = %0 seed [1] of type FLOAT; expected INT32 or INT64");
    check_says(rng(lengths("seed", 1, 9), 1.5), "found probability 1.500000; expected 0 to 1");
}

TEST_CASE("slices and transposes that leave their operand") {
    auto const slice = [](core::Dims y, core::Dims start, core::Dims step) {
        Draft draft;
        auto const in = draft.in({4, 6}), out = draft.out(std::move(y));
        draft.add(op(ir::SliceOp{.x = in, .y = out, .start = std::move(start), .step = std::move(step)}));
        return draft;
    };
    CHECK(fault_of(slice({2, 3}, {2, 1}, {1, 2})) == "");
    constexpr char const* kNeeded = "each element of y to be one of x";
    check_says(slice({3, 3}, {2, 1}, {1, 2}), kNeeded);
    check_says(slice({2, 3}, {2, 2}, {1, 2}), kNeeded);
    check_says(slice({2}, {2, 1}, {1, 2}), kNeeded);
    check_says(slice({2, 3}, {-1, 1}, {1, 2}), kNeeded);
    check_says(slice({2, 3}, {2, 1}, {0, 2}), kNeeded);
    check_says(slice({2, 3}, {2}, {1}), kNeeded);

    auto const transpose = [](core::Dims y, core::Dims permutation) {
        Draft draft;
        auto const in = draft.in({2, 3, 4}), out = draft.out(std::move(y));
        draft.add(op(ir::TransposeOp{.x = in, .y = out, .permutation = std::move(permutation)}));
        return draft;
    };
    CHECK(fault_of(transpose({4, 2, 3}, {2, 0, 1})) == "");
    check_says(transpose({4, 3, 2}, {2, 0, 1}), "each dim of x once in y, in that order");
    check_says(transpose({4, 2, 3}, {2, 0, 0}), "each dim of x once in y, in that order");
    check_says(transpose({4, 2}, {2, 0}), "each dim of x once in y, in that order");
}

TEST_CASE("windows that do not fit their tensors") {
    auto const product = [](ir::WindowPart part, core::Dims const& a, core::Dims const& b, core::Dims const& y,
                            neighborhood::Options const& options) {
        Draft draft;
        ir::ValueId const in_a = draft.in(a), in_b = draft.in(b);
        draft.add(op(ir::WindowProductOp{options, part, in_a, in_b, draft.out(y)}));
        return draft;
    };
    using enum ir::WindowPart;
    core::Dims const tokens{2, 3, 6, 9, 4}, slots{2, 3, 6, 9, 15}, wide{2, 3, 6, 9, 8};
    neighborhood::Options const fitting{{3, 5}, {2, 1}, {true, false}};
    CHECK(fault_of(product(Slots, tokens, tokens, slots, fitting)) == "");
    CHECK(fault_of(product(Queries, slots, tokens, tokens, fitting)) == "");
    CHECK(fault_of(product(Keys, slots, tokens, tokens, fitting)) == "");
    constexpr char const* kWindows = "expected batch, heads, a space that the windows fit, and their slots";
    check_says(product(Slots, tokens, tokens, {2, 3, 6, 9, 9}, fitting), kWindows);
    check_says(product(Slots, tokens, tokens, {2, 3, 15}, fitting), kWindows);
    for (neighborhood::Options const& other : {neighborhood::Options{{15}, {}, {}},
                                               {{3, 5}, {3, 1}, {}},
                                               {{3, 5}, {1}, {}},
                                               {{3, 5}, {}, {true}},
                                               {{3, 5}, {0, 1}, {}},
                                               {{-3, -5}, {}, {}}}) {
        check_says(product(Slots, tokens, tokens, slots, other), kWindows);
    }
    check_says(product(Slots, tokens, wide, slots, fitting),
               "found b = %1 in2 [2, 3, 6, 9, 8]; expected [2, 3, 6, 9, 4]");
    check_says(product(Queries, slots, wide, tokens, fitting),
               "found b = %1 in2 [2, 3, 6, 9, 8]; expected [2, 3, 6, 9, 4]");
    check_says(product(Keys, slots, wide, tokens, fitting),
               "found y = %2 out3 [2, 3, 6, 9, 4]; expected [2, 3, 6, 9, 8]");

    auto const bias = [](core::Dims const& x, core::Dims const& y) {
        Draft draft;
        ir::ValueId const in = draft.in(x);
        draft.add(op(ir::WindowBiasOp{{{3, 5}, {}, {}}, in, draft.out(y)}));
        return draft;
    };
    CHECK(fault_of(bias({3, 5, 9}, {1, 3, 6, 9, 15})) == "");
    check_says(bias({3, 5, 5}, {1, 3, 6, 9, 15}), "found bias = %0 in1 [3, 5, 5]; expected [3, 5, 9]");
}

TEST_CASE("neighborhood attention as one operation: its operands and their dims") {
    auto const qk = [](core::Dims const& q, core::Dims const& k, core::Dims const& attn, core::Dims const& kernel) {
        Draft draft;
        ir::NeighborhoodOp body{neighborhood::Function::Qk, {kernel, {}, {}}};
        body.operands[neighborhood::Q] = draft.in(q);
        if (!k.empty()) body.operands[neighborhood::K] = draft.in(k);
        body.operands[neighborhood::Attn] = draft.out(attn);
        draft.add(op(body));
        return draft;
    };
    core::Dims const tokens{2, 3, 6, 9, 4}, slots{2, 3, 6, 9, 15};
    CHECK(fault_of(qk(tokens, tokens, slots, {3, 5})) == "");
    check_says(qk(tokens, {}, slots, {3, 5}), "found no operand; expected K");
    check_says(qk(tokens, {2, 3, 6, 8, 4}, slots, {3, 5}),
               "found K = %1 in2 [2, 3, 6, 8, 4]; expected [2, 3, 6, 9, 4]");
    check_says(qk(tokens, tokens, {2, 3, 6, 9, 9}, {3, 5}),
               "found Attn = %2 out3 [2, 3, 6, 9, 9]; expected [2, 3, 6, 9, 15]");
    constexpr char const* kSpace = "expected one to three axes of space that the windows fit";
    check_says(qk(tokens, tokens, slots, {7, 5}), kSpace);
    check_says(qk({2, 3, 4}, {2, 3, 4}, {2, 3, 3}, {3}), kSpace);
}

TEST_CASE("attention: dims of its tensors") {
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::K] = d.in({2, 3, 7, 8});
               }),
               "found k = %4 in5 [2, 3, 7, 8]; expected batch 2 or 1, and a number of heads that divides 4");
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::K] = d.in({2, 2, 7, 9});
               }),
               "vectors of 8 elements, as in q");
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::K] = d.in({2, 2, 6, 8});
               }),
               "one sequence length");
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::V] = d.in({2, 1, 7, 5});
               }),
               "found o = %3 out4 [2, 4, 5, 6]; expected [2, 4, 5, 5]");
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::Q] = d.in({2, 4, 5});
               }),
               "expected four dims: batch, head, sequence, vector");
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::Stats] = d.out({2, 4, 5, 2});
               }),
               "expected [2, 4, 5, 1]");
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::Bias] = d.in({2, 2, 5, 7});
               }),
               "each dim to be 1 or that of [2, 4, 5, 7]");
    check_says(forward([](Draft& d, auto& body) {
                   body.operands[Port::AttnScale] = d.in({2, 1, 1, 1});
               }),
               "found scale = %4 in5 [2, 1, 1, 1]; expected one element");
    check_says(forward([](Draft&, auto& body) { body.options.padding = true; }),
               "a padding mask without seq_len_q or seq_len_kv");
    check_says(forward([](Draft&, auto& body) { body.options.dropout_probability = 0.5; }), "without seed or offset");
}

TEST_CASE("block masks: their dims and type, as an operation and as a part of attention") {
    auto const mask = [](Draft& draft, core::Dims dim, DataType_t type) {
        ir::Value value = input("mask", std::move(dim), 60);
        value.type = type;
        return draft.add(value);
    };
    auto const alone = [&](core::Dims dim, DataType_t type) {
        Draft draft;
        ir::ValueId const bits = mask(draft, std::move(dim), type);
        draft.add(op(ir::BlockMaskOp{.mask = bits, .y = draft.out({2, 4, 200, 1100})}));
        return fault_of(std::move(draft));
    };
    CHECK(alone({2, 4, 2, 2}, DataType_t::UINT8) == "");
    CHECK(alone({2, 4, 2, 9}, DataType_t::UINT8).find("expected [2, 4, 2, 2]") != std::string::npos);
    CHECK(alone({2, 4, 2, 2}, DataType_t::INT32).find("of type INT32; expected UINT8") != std::string::npos);
    check_says(forward([&](Draft& d, auto& body) {
                   body.operands[Port::BlockMask] = mask(d, {2, 4, 5, 7}, DataType_t::UINT8);
               }),
               "expected [2, 4, 1, 1]");
}

TEST_CASE("block scales: their dims with and without tiles, their type and the axis") {
    auto const dequantized = [](core::Dims dim, TensorReordering_t order, DataType_t type, std::int64_t axis) {
        Draft draft;
        ir::Value scale = input("scale", std::move(dim), 60);
        scale.type = type;
        scale.reordering = order;
        ir::BlockDequantizeOp body{.x = draft.in({2, 3, 70, 96}), .scale = draft.add(scale), .axis = axis};
        body.y = draft.out({2, 3, 70, 96});
        draft.add(op(body));
        return fault_of(std::move(draft));
    };
    constexpr auto kTiled = TensorReordering_t::F8_128x4, kPlain = TensorReordering_t::NONE;
    constexpr auto kType = DataType_t::FP8_E8M0;
    CHECK(dequantized({2, 3, 128, 4}, kTiled, kType, 3) == "");
    CHECK(dequantized({2, 3, 4, 128}, kTiled, kType, 2) == "");
    CHECK(dequantized({2, 3, 70, 3}, kPlain, kType, 3) == "");
    CHECK(dequantized({2, 3, 70, 3}, kTiled, kType, 3).find("expected [2, 3, 128, 4]") != std::string::npos);
    CHECK(dequantized({2, 3, 128, 4}, kPlain, kType, 2).find("expected [2, 3, 3, 96]") != std::string::npos);
    CHECK(dequantized({2, 3, 128, 4}, kTiled, DataType_t::FLOAT, 3).find("of type FLOAT; expected FP8_E8M0") !=
          std::string::npos);
    CHECK(dequantized({2, 3, 128, 4}, kTiled, kType, 1).find("found axis 1; expected 2 or 3") != std::string::npos);
}

TEST_CASE("paged load: its dims, its table and its lengths") {
    struct Load {
        Draft draft;
        ir::PagedLoadOp body;

        explicit Load(core::Dims table_dim = {3, 1, 2, 1}, core::Dims y = {3, 2, 7, 8}) {
            body.container = draft.in({9, 2, 4, 8});
            ir::Value table = input("table", std::move(table_dim), 50);
            table.type = DataType_t::INT32;
            body.table = draft.add(table);
            body.length = draft.add(lengths("length", 3, 51));
            body.y = draft.out(std::move(y));
        }
        Draft finish() && {
            draft.add(op(body));
            return std::move(draft);
        }
    };
    CHECK(fault_of(Load().finish()) == "");
    Load transposed({3, 1, 2, 1}, {3, 2, 8, 7}), wide, types, others;
    check_says(std::move(transposed).finish(), "found y = %3 out2 [3, 2, 8, 7]; expected [3, 2, 8, 8]");
    wide.body.container = wide.draft.in({9, 2, 4, 6});
    check_says(std::move(wide).finish(), "found y = %3 out2 [3, 2, 7, 8]; expected [3, 2, 7, 6]");
    check_says(Load({3, 1, 1, 1}).finish(), "found table = %1 table [3, 1, 1, 1]; expected [3, 1, 2, 1]");
    types.body.table = types.draft.in({3, 1, 2, 1});
    check_says(std::move(types).finish(), "of type FLOAT; expected INT32 or INT64");
    others.body.length = others.draft.add(lengths("other", 2, 52));
    check_says(std::move(others).finish(), "found length = %4 other [2, 1, 1, 1]; expected [3, 1, 1, 1]");
}

TEST_CASE("attention over pages: tables, lengths and the number of keys") {
    auto const paged = [] {
        Attention attention;
        attention.body.operands[Port::K] = attention.draft.in({9, 2, 4, 8});
        ir::Value table = input("table", {2, 1, 2, 1}, 50);
        table.type = DataType_t::INT32;
        attention.body.operands[Port::PageTableK] = attention.draft.add(table);
        attention.body.operands[Port::SeqLenKv] = attention.draft.add(lengths("length", 2, 51));
        attention.body.keys = 7;
        return attention;
    };
    CHECK(fault_of(paged().finish()) == "");
    auto unknown = paged(), endless = paged();
    unknown.body.keys.reset();
    CHECK(fault_of(std::move(unknown).finish()).find("found page tables or a number of keys alone") !=
          std::string::npos);
    endless.body.operands[Port::SeqLenKv] = ir::kNoValue;
    check_says(std::move(endless).finish(),
               "found pages without lengths; expected lengths, which say how many keys are in them");
    Attention dense;
    dense.body.keys = 7;
    check_says(std::move(dense).finish(), "found page tables or a number of keys alone");
}

TEST_CASE("attention: a sink for each head, and a maximum and a sum for each row") {
    check_says(forward([](Draft& draft, auto& body) {
                   body.operands[Port::SinkToken] = draft.in({1, 2, 1, 1});
               }),
               "expected [1, 4, 1, 1]");
    check_says(forward([](Draft& draft, auto& body) {
                   body.operands[Port::Max] = draft.out({2, 4, 5, 7});
               }),
               "expected [2, 4, 5, 1]");
    check_says(forward([](Draft& draft, auto& body) {
                   body.operands[Port::SumExp] = draft.out({2, 4, 1, 1});
               }),
               "expected [2, 4, 5, 1]");
}

TEST_CASE("attention: operands that it needs, and gradients") {
    Attention forward;
    forward.body.operands[Port::V] = ir::kNoValue;
    check_says(std::move(forward).finish(), "op 0 SDPA_FORWARD: found no operand; expected v");

    Attention tensors;
    Draft& draft = tensors.draft;
    ir::SdpaBackwardOp backward;
    for (Port const port : {Port::Q, Port::K, Port::V}) backward.operands[port] = tensors.body.operands[port];
    backward.operands[Port::O] = draft.in({2, 4, 5, 6});
    backward.operands[Port::DO] = draft.in({2, 4, 5, 6});
    backward.operands[Port::Stats] = draft.in({2, 4, 5, 1});
    backward.operands[Port::DQ] = draft.out({2, 4, 5, 8});
    backward.operands[Port::DK] = draft.out({2, 4, 7, 8});
    backward.operands[Port::DV] = draft.out({2, 1, 7, 6});
    backward.operands[Port::DBias] = tensors.body.operands[Port::O];
    backward.operands[Port::DSinkToken] = draft.out({1, 4, 1, 1});
    draft.add(op(backward));
    std::string const message = fault_of(std::move(draft));
    CHECK(std::ranges::count(message, '\n') == 3);
    CHECK(message.find("op 0 SDPA_BACKWARD: found d_k = %8 out9 [2, 4, 7, 8]; expected [2, 2, 7, 8]") !=
          std::string::npos);
    CHECK(message.find("found d_bias without bias") != std::string::npos);
    CHECK(message.find("found d_sink without sink") != std::string::npos);
}
