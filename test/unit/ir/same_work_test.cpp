// Graphs that may share plans: those that differ in names alone.
#include "support/catch.h"
#include "unit/ir/values.h"

using namespace cudnn_frontend;
using namespace cudnn_frontend::test;

TEST_CASE("values of one content under two names do the same work") {
    CHECK(same_work(input("x", {1, 2, 3, 4}, 7), input("y", {1, 2, 3, 4}, 7)));
}

TEST_CASE("a value that differs in any field but its name does other work") {
    using Change = void (*)(ir::Value&);
    for (Change const change : std::initializer_list<Change>{
             [](ir::Value& v) { v.type = DataType_t::HALF; },
             [](ir::Value& v) { v.dim[2] = 5; },
             [](ir::Value& v) { v.stride[0] = 48; },
             [](ir::Value& v) { v.role = ir::Role::Output; },
             [](ir::Value& v) { v.uid = 8; },
             [](ir::Value& v) { v.constant = detail::make_scalar(0.5f); },
             [](ir::Value& v) { v.table = {1.0}; },
             [](ir::Value& v) { v.ragged.offset = 1; },
             [](ir::Value& v) { v.ragged.length = 1; },
             [](ir::Value& v) { v.ragged.rows_together = 2; },
             [](ir::Value& v) { v.ragged.multiplier = 2; },
             [](ir::Value& v) { v.ragged.most_rows = 2; },
             [](ir::Value& v) { v.steps_of = 2; },
             [](ir::Value& v) { v.view_of = 3; },
             [](ir::Value& v) { v.reordering = TensorReordering_t::F8_128x4; },
             [](ir::Value& v) { v.is_factor = true; },
         }) {
        ir::Value const value = input("x", {1, 2, 3, 4}, 7);
        ir::Value changed = value;
        change(changed);
        CHECK_FALSE(same_work(value, changed));
    }
}

TEST_CASE("an operation that differs in anything but its name does other work") {
    ir::Op const add = pointwise(PointwiseMode_t::ADD, 0, 1, 2);
    ir::Op named = add, typed = add, other_input = add, clipped = add;
    named.name = "sum";
    typed.compute_type = DataType_t::DOUBLE;
    std::get<ir::PointwiseOp>(other_input.body).in[0] = 1;
    std::get<ir::PointwiseOp>(clipped.body).relu_lower_clip = 0.0f;
    CHECK(same_work(add, named));
    for (ir::Op const& other :
         {typed, other_input, clipped, pointwise(PointwiseMode_t::SUB, 0, 1, 2), op(ir::ReshapeOp{0, 2})}) {
        CHECK_FALSE(same_work(add, other));
    }
}

TEST_CASE("a graph with another operation does other work") {
    auto const graph_of = [](char const* name, bool has_log) {
        ir::Builder builder;
        auto const x = builder.add(input(name, {1, 1, 2, 3}, 1)), y = builder.add(output("y", {1, 1, 2, 3}, 2));
        auto const z = builder.add(output("z", {1, 1, 2, 3}, 3));
        builder.add(pointwise(PointwiseMode_t::EXP, x, y));
        builder.add(pointwise(has_log ? PointwiseMode_t::LOG : PointwiseMode_t::EXP, x, z));
        return std::move(builder).finish().value();
    };
    CHECK(same_work(graph_of("x", true), graph_of("input", true)));
    CHECK_FALSE(same_work(graph_of("x", true), graph_of("x", false)));
}
