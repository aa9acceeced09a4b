// Where results are written, results of queries and keys without visible partners, and the objects that calls share.
#include "calls/class_plan.h"
#include "example.h"
#include "flash/lengths.h"
#include "flash/shapes.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace flash_test;
namespace flash = sdpa_graph::flash;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Condition>
std::int64_t count(Tensor_view const& view, Condition const& condition) {
    if (std::ranges::count(view.dim, 0) > 0) return 0;
    std::int64_t found = 0;
    Dims index(view.dim.size(), 0);
    for (std::size_t d = 0; d < index.size();) {
        if (condition(value_at(view, index))) ++found;
        for (d = 0; d < index.size() && ++index[d] == view.dim[d]; ++d) index[d] = 0;
    }
    return found;
}

bool is_all(Tensor_view const& view, double wanted) {
    return count(view, [&](double value) { return value != wanted; }) == 0;
}

// Memory that nothing wrote is NaN.
std::int64_t unwritten(Tensor_view const& view) {
    return count(view, [](double value) { return std::isnan(value); });
}

// Packed sequences of which none has a query, or none a key.
struct Nothing {
    char const* what;
    std::int64_t rows_of_q, rows_of_k;
    int most_q, most_k;
    std::vector<std::int32_t> totals_q, totals_k;
};

constexpr std::int64_t kHeads = 2, kWidth = 8;

Packed call_of(Nothing const& nothing) {
    Packed call;
    for (Buffer* const buffer : {&call.q, &call.dout, &call.out}) buffer->view().dim[0] = nothing.rows_of_q;
    for (Buffer* const buffer : {&call.k, &call.v}) buffer->view().dim[0] = nothing.rows_of_k;
    call.log_sums = Buffer::floats(std::vector<float>(static_cast<std::size_t>(kHeads * nothing.rows_of_q)),
                                   {kHeads, nothing.rows_of_q});
    call.totals_q = Buffer::integers(nothing.totals_q);
    call.totals_k = Buffer::integers(nothing.totals_k);
    call.most_q = nothing.most_q;
    call.most_k = nothing.most_k;
    call.p_dropout = 0.5f;
    call.return_softmax = true;
    call.generator_ = call.seed = call.generator.view();
    return call;
}

}  // namespace

TEST_CASE("flash results: the caller's memory is written, and what is missing is asked for") {
    Padded call;
    call.out_ = call.out.view();
    call.forward_results.softmax_lse = call.log_sums.view();
    REQUIRE(call.forward().is_good());
    CHECK(call.arena.names.empty());
    CHECK(call.forward_results.out.data == call.out.view().data);
    CHECK(value_at(call.log_sums.view(), {0, 0, 0}) != 1.0);

    Padded other;
    REQUIRE(other.forward().is_good());
    CHECK(other.arena.names == std::vector<std::string>{"out", "softmax_lse"});
    CHECK(other.forward_results.out.dim == Dims{2, 3, 2, 8});
    CHECK(other.forward_results.softmax_lse.dim == Dims{2, 2, 3});
    CHECK(other.forward_results.rng_state.data == nullptr);
    CHECK(other.forward_results.p.data == nullptr);
    REQUIRE(other.backward().is_good());
    CHECK(other.backward_results.dk.dim == Dims{2, 4, 2, 8});
    CHECK(other.backward_results.softmax_d.dim == Dims{2, 2, 128});
}

TEST_CASE("flash results: shapes of packed tensors") {
    Packed call;
    call.p_dropout = 0.5f;
    call.return_softmax = true;
    call.generator_ = call.generator.view();
    REQUIRE(call.forward().is_good());
    CHECK(call.forward_results.softmax_lse.dim == Dims{2, 5});
    CHECK(call.forward_results.p.dim == Dims{2, 2, 128, 128});
    CHECK(call.forward_results.rng_state.data == call.generator.view().data);
    call.seed = call.forward_results.rng_state;
    REQUIRE(call.backward().is_good());
    CHECK(call.backward_results.softmax_d.dim == Dims{2, 5 + 2 * 128});
}

TEST_CASE("flash results: seed and offset apart are as good as together") {
    Padded together, apart;
    for (Padded* const call : {&together, &apart}) call->p_dropout = 0.5f;
    together.seed = together.generator.view();
    Buffer seed = Buffer::long_integers({7}), offset = Buffer::long_integers({0});
    apart.seed = seed.view();
    apart.offset = offset.view();
    REQUIRE(together.backward().is_good());
    REQUIRE(apart.backward().is_good());
    auto const first = [](Padded const& call) { return value_at(call.backward_results.dv, {1, 2, 1, 3}); };
    CHECK(first(together) == first(apart));
    seed = Buffer::long_integers({8});
    apart.seed = seed.view();
    REQUIRE(apart.backward().is_good());
    CHECK(first(together) != first(apart));
}

TEST_CASE("flash results: no batch entries, no queries, no keys") {
    Padded none;
    for (Buffer* const buffer : {&none.q, &none.k, &none.v, &none.dout, &none.out}) buffer->view().dim[0] = 0;
    none.log_sums.view().dim[0] = 0;
    REQUIRE(none.forward().is_good());
    CHECK(none.forward_results.softmax_lse.dim == Dims{0, 2, 3});
    CHECK(none.backward().is_good());

    Padded no_queries;
    for (Buffer* const buffer : {&no_queries.q, &no_queries.dout, &no_queries.out}) buffer->view().dim[1] = 0;
    no_queries.log_sums.view().dim[2] = 0;
    REQUIRE(no_queries.forward().is_good());
    REQUIRE(no_queries.backward().is_good());
    CHECK(is_all(no_queries.backward_results.dk, 0.0));
    CHECK(is_all(no_queries.backward_results.dv, 0.0));

    Padded no_keys;
    no_keys.k.view().dim[1] = no_keys.v.view().dim[1] = 0;
    no_keys.left = 0;
    REQUIRE(no_keys.forward().is_good());
    CHECK(is_all(no_keys.forward_results.out, 0.0));
    CHECK(is_all(no_keys.forward_results.softmax_lse, kInfinity));
    REQUIRE(no_keys.backward().is_good());
    CHECK(is_all(no_keys.backward_results.dq, 0.0));
    CHECK(is_all(no_keys.backward_results.softmax_d, 0.0));
}

TEST_CASE(
    "flash results: where no sequence has a query, or none a key, rows of sequences are written, and all on request") {
    Nothing const cases[] = {
        {"longest of no query", 5, 5, 0, 4, {0, 0, 0}, {0, 4, 5}},  {"no row of q", 0, 5, 3, 4, {0, 0, 0}, {0, 4, 5}},
        {"longest of no key", 5, 5, 3, 0, {0, 2, 5}, {0, 0, 0}},    {"no row of k", 5, 0, 3, 4, {0, 2, 5}, {0, 0, 0}},
        {"a row of no sequence", 5, 0, 3, 4, {0, 2, 4}, {0, 0, 0}}, {"no row at all", 0, 0, 0, 0, {0, 0, 0}, {0, 0, 0}},
    };
    for (Nothing const& nothing : cases) {
        for (bool const zero_tensors : {false, true}) {
            CAPTURE(nothing.what, zero_tensors);
            Packed call = call_of(nothing);
            call.zero_tensors = zero_tensors;
            REQUIRE(call.forward().get_message() == "");
            REQUIRE(call.backward().get_message() == "");
            auto const left = [&](std::int64_t rows, std::int32_t in_sequences) {
                return zero_tensors ? 0 : kHeads * (rows - in_sequences);
            };
            std::int64_t const of_q = left(nothing.rows_of_q, nothing.totals_q.back());
            std::int64_t const of_k = left(nothing.rows_of_k, nothing.totals_k.back());
            CHECK(unwritten(call.forward_results.out) == of_q * kWidth);
            CHECK(unwritten(call.forward_results.softmax_lse) == of_q);
            CHECK(unwritten(call.forward_results.p) == 0);
            CHECK(unwritten(call.backward_results.dq) == of_q * kWidth);
            CHECK(unwritten(call.backward_results.dk) == of_k * kWidth);
            CHECK(unwritten(call.backward_results.dv) == of_k * kWidth);
            CHECK(unwritten(call.backward_results.softmax_d) == 0);
            bool const is_seen = nothing.totals_q.back() > 0;
            if (is_seen) CHECK(value_at(call.forward_results.softmax_lse, {1, 0}) == kInfinity);
            else if (zero_tensors) CHECK(is_all(call.forward_results.softmax_lse, -kInfinity));
        }
    }
}

TEST_CASE("flash results: one packed row may have gaps between its heads") {
    Packed call;
    call.q = Buffer(DataType_t::HALF, {1, 2, 8}, {48, 24, 1});
    for (Buffer* const buffer : {&call.k, &call.v, &call.out, &call.dout}) *buffer = call.q;
    call.log_sums = Buffer::floats({0, 0}, {2, 1});
    sdpa_test::Random random(3);
    Buffer const projection = Buffer::random(random, DataType_t::HALF, {1, 2, 3, 8}, {48, 24, 8, 1});
    Packed apart;
    Buffer* const parts[] = {&call.q, &call.k, &call.v};
    Buffer* const parts_apart[] = {&apart.q, &apart.k, &apart.v};
    for (std::int64_t part = 0; part < 3; ++part) {
        Tensor_view& view = parts[part]->view();
        view.data = static_cast<std::uint16_t*>(projection.view().data) + 8 * part;
        view.stride[0] = part == 1 ? 0 : 48;  // says nothing of one row
        *parts_apart[part] = Buffer(DataType_t::HALF, {1, 2, 8});
        for (std::int64_t head = 0; head < 2; ++head)
            std::copy_n(static_cast<std::uint16_t const*>(view.data) + 24 * head, 8,
                        static_cast<std::uint16_t*>(parts_apart[part]->view().data) + 8 * head);
    }
    for (Packed* const one : {&call, &apart}) {
        one->totals_q = one->totals_k = Buffer::integers({0, 1});
        one->most_q = one->most_k = 1;
        REQUIRE(one->forward().get_message() == "");
    }
    for (std::int64_t head = 0; head < 2; ++head) {
        for (std::int64_t column = 0; column < 8; ++column)
            CHECK(value_at(call.forward_results.out, {0, head, column}) ==
                  value_at(apart.forward_results.out, {0, head, column}));
    }
}

TEST_CASE("flash results: a table without blocks, for sequences without keys") {
    Packed call;
    call.use_pages(3, {});
    call.totals_k = Buffer::integers({0, 0, 0});
    REQUIRE(call.forward().is_good());
    CHECK(is_all(call.forward_results.softmax_lse, kInfinity));
}

TEST_CASE("flash results: a longest sequence of 0 keys") {
    Packed call;
    call.totals_k = Buffer::integers({0, 0, 0});
    call.most_k = 0;
    REQUIRE(call.forward().is_good());
    CHECK(is_all(call.forward_results.out, 0.0));
    CHECK(is_all(call.forward_results.softmax_lse, kInfinity));
}

TEST_CASE("flash results: rows of no sequence are left alone, or zeroed on request") {
    for (bool const zero_tensors : {false, true}) {
        Packed call;
        call.totals_q = Buffer::integers({1, 2, 3});
        call.totals_k = Buffer::integers({0, 2, 3});
        call.zero_tensors = zero_tensors;
        REQUIRE(call.forward().is_good());
        REQUIRE(call.backward().is_good());
        double const out = value_at(call.forward_results.out, {4, 1, 0});
        double const log_sum = value_at(call.forward_results.softmax_lse, {1, 4});
        double const dk = value_at(call.backward_results.dk, {4, 0, 0});
        CHECK((zero_tensors ? out == 0.0 : std::isnan(out)));
        CHECK((zero_tensors ? log_sum == -kInfinity : std::isnan(log_sum)));
        CHECK((zero_tensors ? dk == 0.0 : std::isnan(dk)));
        CHECK(std::isfinite(value_at(call.forward_results.softmax_lse, {1, 2})));
    }
}

TEST_CASE("flash results: calls with other totals and nearby lengths share a plan, as do other addresses") {
    auto const shapes = [](Packed& example, bool is_backward) {
        flash::Call call{.function = "", .is_backward = is_backward, .is_packed = true, .place = &example.place};
        call.set(flash::Argument::Q, example.q.view());
        call.set(flash::Argument::K, example.k.view());
        call.set(flash::Argument::V, example.v.view());
        call.set(flash::Argument::Out, example.out.view());
        call.set(flash::Argument::CuSeqlensQ, example.totals_q.view());
        call.set(flash::Argument::CuSeqlensK, example.totals_k.view());
        call.max_seqlen_q = example.most_q;
        call.max_seqlen_k = example.most_k;
        return flash::shapes_of(call, flash::sizes_of(call), flash::rounding_of(call), cudnn_frontend::Target::cpu());
    };
    auto const plan = [&](Packed& example) {
        auto const found =
            sdpa_graph::calls::ClassPlan<flash::Shapes>::find(shapes(example, false), cudnn_frontend::Target::cpu());
        REQUIRE(found.is_good());
        return found.value();
    };
    Packed one, other;
    other.q = other.out = Buffer(DataType_t::HALF, {50, 2, 8});
    other.k = other.v = Buffer(DataType_t::HALF, {70, 2, 8});
    other.most_q = 60;
    other.most_k = 47;
    CHECK(shapes(one, false) == shapes(other, false));
    CHECK(plan(one) == plan(other));
    other.most_k = other.most_q = one.most_k = one.most_q;
    other.totals_k = other.totals_q;
    CHECK(shapes(other, false).is_square);
    CHECK_FALSE(shapes(one, false).is_square);
    other.most_q = 65;
    CHECK_FALSE(shapes(one, false) == shapes(other, false));
    CHECK_FALSE(shapes(one, false) == shapes(one, true));
    CHECK(plan(one) != plan(other));
}

TEST_CASE("flash results: bounds of classes are at most an eighth above the length, or 64") {
    Packed example;
    for (std::int64_t const length : {1, 64, 65, 1000, 1024, 1025, 100000}) {
        example.most_q = static_cast<int>(length);
        flash::Call call{.function = "", .is_backward = false, .is_packed = true, .place = &example.place};
        call.set(flash::Argument::Q, example.q.view());
        call.set(flash::Argument::K, example.k.view());
        call.set(flash::Argument::CuSeqlensQ, example.totals_q.view());
        call.max_seqlen_q = length;
        call.max_seqlen_k = 4;
        std::int64_t const bound =
            flash::shapes_of(call, flash::sizes_of(call), flash::rounding_of(call), cudnn_frontend::Target::cpu())
                .queries;
        CHECK(bound >= length);
        CHECK(bound <= std::max<std::int64_t>(length + length / 8, 64 * ((length + 63) / 64)));
    }
}

TEST_CASE("flash results: results whose heads lie outside of the rows are written, in classes of shapes too") {
    auto const by_head = [](Dims const& dim) {
        return Buffer(DataType_t::HALF, dim, {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1});
    };
    Padded call;
    call.place.shape_policy = sdpa_graph::Shape_policy::CLASSES;
    Buffer const out = by_head({2, 3, 2, 8}), dq = by_head({2, 3, 2, 8}), dk = by_head({2, 4, 2, 8});
    call.out_ = out.view();
    CHECK(call.forward().get_message() == "");
    CHECK(unwritten(out.view()) == 0);
    call.dq_ = dq.view();
    call.dk_ = dk.view();
    CHECK(call.backward().get_message() == "");
    CHECK(unwritten(dq.view()) == 0);
    CHECK(unwritten(dk.view()) == 0);
}

TEST_CASE("a tensor that a call binds twice has one entry in the pack: the memory that replaces the caller's") {
    sdpa_graph::calls::Pack pack;
    int of_caller = 0, gathered = 0, other = 0;
    pack.bind(3, &of_caller);
    pack.bind(4, &other);
    pack.bind(3, &gathered);
    REQUIRE(pack.entries().size() == 2);
    CHECK(pack.entries()[0] == std::pair<std::int64_t, void*>(3, &gathered));
    CHECK(pack.entries()[1] == std::pair<std::int64_t, void*>(4, &other));
}
