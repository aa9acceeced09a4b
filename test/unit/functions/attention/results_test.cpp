// Where results lie, and what a call does to memory and to the plans of the process.
#include "example.h"
#include "support/catch.h"

#include <limits>

using namespace attention_test;
using sdpa_graph::Shape_policy;

namespace {

// Dims that lie in memory in that order, outermost first, without gaps.
Dims strides_in_order(Dims const& dim, std::vector<std::size_t> const& order) {
    Dims stride(dim.size(), 1);
    std::int64_t step = 1;
    for (auto at = order.rbegin(); at != order.rend(); step *= dim[*at++]) stride[*at] = step;
    return stride;
}

std::int64_t built() { return sdpa_graph::plan_counts().built; }

// A causal call of sequences of that length and number, forward and backward.
void run_classes(std::int64_t batches, std::int64_t rows, std::vector<std::size_t> const& order) {
    Example call;
    Dims const dim{batches, 2, rows, 8};
    for (Tensor_view* const view : {&call.inputs.q, &call.inputs.k, &call.inputs.v, &call.o, &call.grad_o}) {
        *view = call.made(DataType_t::BFLOAT16, dim);
        view->stride = strides_in_order(dim, order);
    }
    call.stats = call.made(DataType_t::FLOAT, {batches, 2, rows, 1});
    call.options.right_bound = 0;
    call.options.scale = 0.21f;  // of no other test
    call.place.shape_policy = Shape_policy::CLASSES;
    CHECK(call.forward().get_message() == "");
    CHECK(call.backward().get_message() == "");
}

}  // namespace

TEST_CASE("attention results: o and stats lie in the order of q") {
    for (std::vector<std::size_t> const& order :
         {std::vector<std::size_t>{0, 1, 2, 3}, {0, 2, 1, 3}, {2, 0, 1, 3}, {1, 0, 2, 3}})
        for (Shape_policy const policy : {Shape_policy::EXACT, Shape_policy::CLASSES, Shape_policy::ALL_SHAPES}) {
            Example call;
            call.place.shape_policy = policy;
            call.inputs.q.stride = strides_in_order(call.inputs.q.dim, order);
            REQUIRE(call.forward().get_message() == "");
            auto const& [o, stats] = call.forward_results;
            CHECK(o.dim == Dims{2, 4, 3, 8});
            CHECK(o.stride == strides_in_order(o.dim, order));
            CHECK(stats.dim == Dims{2, 4, 3, 1});
            CHECK(stats.stride == strides_in_order(stats.dim, order));
            CHECK(stats.type == DataType_t::FLOAT);
            call.o = o;
            call.stats = stats;
            REQUIRE(call.backward().get_message() == "");
            CHECK(call.backward_results.dq.stride == strides_in_order({2, 4, 3, 8}, order));
            CHECK(call.backward_results.dk.stride == sdpa_graph::row_major({2, 2, 5, 8}));
        }
}

TEST_CASE("attention results: o and stats of packed tensors have rows of all heads") {
    Example call(Kind::Packed);
    REQUIRE(call.forward().get_message() == "");
    CHECK(call.forward_results.o.stride == Dims{32, 8, 1});
    CHECK(call.forward_results.stats.dim == Dims{5, 4, 1});
    CHECK(call.forward_results.stats.stride == Dims{4, 1, 1});
}

TEST_CASE("attention results: memory that is given is written, and stats only if they are wanted") {
    Example call;
    Buffer const o(DataType_t::HALF, {2, 4, 3, 8}), stats(DataType_t::FLOAT, {2, 4, 3, 1});
    call.forward_results = {o.view(), stats.view()};
    std::size_t const requests = call.arena.names.size();
    REQUIRE(call.forward(false).get_message() == "");
    CHECK(value_at(o.view(), {1, 3, 2, 7}) == value_at(o.view(), {1, 3, 2, 7}));  // no NaN
    CHECK(value_at(stats.view(), {1, 3, 2, 0}) != value_at(stats.view(), {1, 3, 2, 0}));
    REQUIRE(call.forward().get_message() == "");
    CHECK(value_at(stats.view(), {1, 3, 2, 0}) == value_at(stats.view(), {1, 3, 2, 0}));
    CHECK(call.arena.names.size() == requests);
    CHECK(call.forward_results.o.data == o.view().data);
}

TEST_CASE("attention results: without keys o and gradients are 0, and stats minus infinity") {
    Example call;
    call.inputs.k.dim[2] = call.inputs.v.dim[2] = 0;
    call.add_sink();
    REQUIRE(call.forward().get_message() == "");
    CHECK(value_at(call.forward_results.o, {1, 3, 2, 7}) == 0.0);
    CHECK(value_at(call.forward_results.stats, {1, 3, 2, 0}) == -std::numeric_limits<double>::infinity());
    call.o = call.forward_results.o;
    call.stats = call.forward_results.stats;
    REQUIRE(call.backward().get_message() == "");
    CHECK(value_at(call.backward_results.dq, {1, 3, 2, 7}) == 0.0);
    CHECK(value_at(call.backward_results.dsink, {0, 3, 0, 0}) == 0.0);
}

TEST_CASE("attention results: packed tokens of no sequence at all are 0") {
    for (Shape_policy const policy : {Shape_policy::EXACT, Shape_policy::CLASSES}) {
        Example call(Kind::Packed);
        call.place.shape_policy = policy;
        call.inputs.cu_seqlens_q = call.inputs.cu_seqlens_kv = call.integers({0});
        REQUIRE(call.forward().get_message() == "");
        CHECK(value_at(call.forward_results.o, {4, 3, 7}) == 0.0);
        REQUIRE(call.backward().get_message() == "");
        CHECK(value_at(call.backward_results.dv, {8, 1, 7}) == 0.0);
    }
}

TEST_CASE("attention classes: shapes that round up to the same sizes share a plan for each direction") {
    std::vector<std::size_t> const bshd = {0, 2, 1, 3}, bhsd = {0, 1, 2, 3};
    for (auto const& order : {bshd, bhsd}) {
        run_classes(3, 70, order);
        std::int64_t const before = built();
        run_classes(4, 128, order);
        run_classes(3, 65, order);
        CHECK(built() == before);
        run_classes(4, 129, order);
        CHECK(built() == before + 2);
        run_classes(5, 129, order);
        CHECK(built() == before + 4);
    }
}

TEST_CASE("attention classes: exact shapes have plans of their own") {
    Example call;
    call.options.scale = 0.22f;
    REQUIRE(call.forward().get_message() == "");
    std::int64_t const before = built();
    REQUIRE(call.forward().get_message() == "");
    CHECK(built() == before);
    call.inputs.k.dim[2] = call.inputs.v.dim[2] = 4;
    REQUIRE(call.forward().get_message() == "");
    CHECK(built() == before + 1);
}
