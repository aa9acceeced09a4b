// Compares the functions over tensors with the formulas.
#include "example.h"
#include "reference/oracle/neighborhood_formula.h"
#include "support/catch.h"

#include "calls/class_plan.h"
#include "neighborhood/shapes.h"

#include <cmath>
#include <thread>

using namespace neighborhood_test;
using neighborhood_formula::Numbers;

namespace {

// The elements of a head of a batch entry, in row-major order of the others.
template <std::size_t Rank>
Numbers head_of(Tensor_view const& view, bool is_heads_last, std::int64_t b, std::int64_t h) {
    Dims index(view.dim.size(), 0);
    std::size_t const heads = is_heads_last ? Rank + 1 : 1;
    index[0] = b;
    index[heads] = h;
    Numbers numbers;
    auto const walk = [&](auto const& self, std::size_t d) -> void {
        if (d == index.size()) return numbers.push_back(value_at(view, index));
        if (d == 0 || d == heads) return self(self, d + 1);
        for (index[d] = 0; index[d] < view.dim[d]; ++index[d]) self(self, d + 1);
        index[d] = 0;
    };
    walk(walk, 0);
    return numbers;
}

Numbers bias_of(Tensor_view const& view, std::int64_t h) {
    std::int64_t const entries = view.stride[0];
    Numbers numbers;
    for (std::int64_t i = 0; i < entries; ++i)
        numbers.push_back(value_at({view.data, {}, {1}, view.type}, {h * entries + i}));
    return numbers;
}

bool are_close(Numbers const& found, Numbers const& wanted, DataType_t type) {
    double const allowed = type == DataType_t::FLOAT ? 1e-4 : type == DataType_t::HALF ? 4e-3 : 2e-2;
    if (found.size() != wanted.size()) return false;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i] == wanted[i]) continue;
        if (!(std::abs(found[i] - wanted[i]) <= allowed * (1.0 + std::abs(wanted[i])))) return false;
    }
    return true;
}

template <std::size_t Rank>
neighborhood_formula::Head formula_of(Example<Rank> const& call, std::int64_t b, std::int64_t h, bool is_fused) {
    neighborhood_formula::Head head;
    for (std::size_t a = 0; a < Rank; ++a)
        head.axes.push_back({call.space[a], call.kernel[a], call.dilation[a], call.is_causal[a]});
    head.width = 8;
    head.scale = double{call.scale};
    head.q = head_of<Rank>((is_fused ? call.q : call.product_q).view(), is_fused, b, h);
    head.k = head_of<Rank>((is_fused ? call.k : call.product_k).view(), is_fused, b, h);
    head.v = head_of<Rank>((is_fused ? call.v : call.product_v).view(), is_fused, b, h);
    if (call.has_bias) head.bias = bias_of(call.bias.view(), h);
    return head;
}

template <class Visit>
void for_each_head(Visit visit) {
    for (std::int64_t b = 0; b < 2; ++b)
        for (std::int64_t h = 0; h < 2; ++h) visit(b, h);
}

template <std::size_t Rank>
void check_fused(Example<Rank>& call) {
    REQUIRE(call.forward().get_message() == "");
    for_each_head([&](std::int64_t b, std::int64_t h) {
        auto const expected = fused_forward(formula_of(call, b, h, true));
        CHECK(are_close(head_of<Rank>(call.out.view(), true, b, h), expected.o, call.type));
        CHECK(are_close(head_of<Rank>(call.lse.view(), true, b, h), expected.stats, DataType_t::FLOAT));
    });
    if (call.has_bias) return;  // fused backward has none
    REQUIRE(call.backward().get_message() == "");
    for_each_head([&](std::int64_t b, std::int64_t h) {
        auto const expected =
            fused_backward(formula_of(call, b, h, true), head_of<Rank>(call.out.view(), true, b, h),
                           head_of<Rank>(call.lse.view(), true, b, h), head_of<Rank>(call.dout.view(), true, b, h));
        CHECK(are_close(head_of<Rank>(call.dq.view(), true, b, h), expected.q, call.type));
        CHECK(are_close(head_of<Rank>(call.dk.view(), true, b, h), expected.k, call.type));
        CHECK(are_close(head_of<Rank>(call.dv.view(), true, b, h), expected.v, call.type));
    });
}

template <std::size_t Rank>
void check_qk(Example<Rank>& call) {
    REQUIRE(call.qk().get_message() == "");
    REQUIRE(call.qk_backward().get_message() == "");
    for (std::int64_t h = 0; h < 2; ++h) {
        Numbers d_bias(call.has_bias ? bias_of(call.bias.view(), h).size() : 0, 0.0);
        for (std::int64_t b = 0; b < 2; ++b) {
            auto const head = formula_of(call, b, h, false);
            CHECK(are_close(head_of<Rank>(call.attn.view(), false, b, h), qk_forward(head), call.type));
            auto const expected = qk_backward(head, head_of<Rank>(call.dattn.view(), false, b, h));
            CHECK(are_close(head_of<Rank>(call.product_dq.view(), false, b, h), expected.q, call.type));
            CHECK(are_close(head_of<Rank>(call.product_dk.view(), false, b, h), expected.k, call.type));
            for (std::size_t i = 0; i < d_bias.size(); ++i) d_bias[i] += expected.bias[i];
        }
        if (call.has_bias) CHECK(are_close(bias_of(call.dbias.view(), h), d_bias, call.type));
    }
}

template <std::size_t Rank>
void check_av(Example<Rank>& call) {
    REQUIRE(call.av().get_message() == "");
    REQUIRE(call.av_backward().get_message() == "");
    for_each_head([&](std::int64_t b, std::int64_t h) {
        auto const head = formula_of(call, b, h, false);
        Numbers const attn = head_of<Rank>(call.attn.view(), false, b, h);
        CHECK(are_close(head_of<Rank>(call.product_out.view(), false, b, h), av_forward(head, attn), call.type));
        auto const expected = av_backward(head, attn, head_of<Rank>(call.product_dout.view(), false, b, h));
        CHECK(are_close(head_of<Rank>(call.dattn.view(), false, b, h), expected.attn, call.type));
        CHECK(are_close(head_of<Rank>(call.product_dv.view(), false, b, h), expected.v, call.type));
    });
}

template <std::size_t Rank>
void check_all(Example<Rank> call) {
    check_fused(call);
    check_av(call);
    check_qk(call);
}

template <std::size_t Rank>
void check_rank() {
    check_all(Example<Rank>());
    for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16}) check_all(Example<Rank>(type));
    Example<Rank> biased;
    biased.has_bias = true;
    check_fused(biased);
    check_qk(biased);
    Example<Rank> causal;
    causal.is_causal.back() = true;
    check_all(causal);
    Example<Rank> dilated(DataType_t::FLOAT, std::vector<std::int64_t>(Rank, 7));
    dilated.dilation.front() = 2;
    check_all(dilated);
}

}  // namespace

TEST_CASE("neighborhood results: along one axis they are those of the formulas") { check_rank<1>(); }
TEST_CASE("neighborhood results: along two axes they are those of the formulas") { check_rank<2>(); }
TEST_CASE("neighborhood results: along three axes they are those of the formulas") { check_rank<3>(); }

TEST_CASE("neighborhood results: fused functions take even kernels, as large as the axis") {
    Example<2> call;
    call.set_kernel({4, 6});
    check_fused(call);
}

TEST_CASE("neighborhood results: attn may be a part of a wider tensor") {
    Example<2> call, whole;
    Dims const wide = call.heads_first(12);
    Buffer const slots(DataType_t::FLOAT, wide);
    call.attn.view().data = slots.view().data;
    call.attn.view().stride = slots.view().stride;
    REQUIRE(call.qk().get_message() == "");
    REQUIRE(whole.qk().get_message() == "");
    CHECK(value_at(call.attn.view(), {1, 1, 4, 5, 8}) == value_at(whole.attn.view(), {1, 1, 4, 5, 8}));
    CHECK(std::isnan(value_at(slots.view(), {1, 1, 4, 5, 9})));
    Example<2> weighed;
    weighed.attn = whole.attn;
    REQUIRE(call.av().get_message() == "");
    REQUIRE(weighed.av().get_message() == "");
    CHECK(value_at(call.product_out.view(), {1, 0, 2, 3, 7}) == value_at(weighed.product_out.view(), {1, 0, 2, 3, 7}));
}

TEST_CASE("neighborhood results: tile sizes and splits change nothing") {
    Example<2> call, other;
    other.query_tiles = {1, 64};
    other.key_tiles = {3, 5};
    other.splits = {4, 2};
    REQUIRE(call.forward().is_good());
    REQUIRE(other.forward().is_good());
    REQUIRE(call.backward().is_good());
    REQUIRE(other.backward().is_good());
    for (auto const of : {&Example<2>::out, &Example<2>::dq, &Example<2>::dk, &Example<2>::dv})
        CHECK(head_of<2>((call.*of).view(), true, 1, 1) == head_of<2>((other.*of).view(), true, 1, 1));
}

TEST_CASE("neighborhood results: the log-sum-exp may be left out") {
    Example<1> call, other;
    other.has_lse = false;
    REQUIRE(call.forward().is_good());
    REQUIRE(other.forward().is_good());
    CHECK(head_of<1>(call.out.view(), true, 0, 1) == head_of<1>(other.out.view(), true, 0, 1));
    CHECK(std::isnan(value_at(other.lse.view(), {0, 0, 0})));
}

TEST_CASE("neighborhood results: the reference target gives them too") {
    Example<2> call, reference;
    reference.place.target = cudnn_frontend::Target::reference();
    REQUIRE(call.forward().is_good());
    REQUIRE(reference.forward().get_message() == "");
    CHECK(are_close(head_of<2>(call.out.view(), true, 1, 0), head_of<2>(reference.out.view(), true, 1, 0),
                    DataType_t::FLOAT));
}

TEST_CASE("neighborhood results: calls of other tensors share a plan, of other windows they do not") {
    auto const shapes = [](Example<2> const& example) {
        na::Call call{.function = na::Function::Av,
                      .options = {{example.kernel.begin(), example.kernel.end()}, {1, 1}, {false, false}},
                      .tensors = {},
                      .hints = {},
                      .place = &example.place};
        call.set(na::Port::Attn, example.attn.view());
        call.set(na::Port::V, example.product_v.view());
        call.set(na::Port::O, example.product_out.view());
        return na::shapes_of(call, cudnn_frontend::Target::cpu());
    };
    auto const plan = [&](Example<2> const& example) {
        auto const found =
            sdpa_graph::calls::ClassPlan<na::Shapes>::find(shapes(example), cudnn_frontend::Target::cpu());
        REQUIRE(found.is_good());
        return found.value();
    };
    Example<2> one, same, other;
    other.set_kernel({3, 5});
    CHECK(plan(one) == plan(same));
    CHECK(plan(one) != plan(other));
}

TEST_CASE("neighborhood results: threads may call at once") {
    std::vector<Example<2>> examples(4);
    std::vector<std::thread> threads;
    std::vector<int> results(examples.size(), 0);
    for (std::size_t i = 0; i < examples.size(); ++i)
        threads.emplace_back([&, i] { results[i] = examples[i].forward().is_good(); });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < examples.size(); ++i) {
        CHECK(results[i] == 1);
        CHECK(head_of<2>(examples[i].out.view(), true, 1, 1) == head_of<2>(examples[0].out.view(), true, 1, 1));
    }
}

namespace {

// A call without batch entries, or without heads.
template <std::size_t Rank>
Example<Rank> without(std::size_t fused_dim, std::size_t product_dim) {
    Example<Rank> call;
    call.has_bias = true;
    for (Buffer* const buffer :
         {&call.q, &call.k, &call.v, &call.dout, &call.out, &call.dq, &call.dk, &call.dv, &call.lse})
        buffer->view().dim[fused_dim] = 0;
    for (Buffer* const buffer :
         {&call.product_q, &call.product_k, &call.product_v, &call.product_dout, &call.product_out, &call.product_dq,
          &call.product_dk, &call.product_dv, &call.attn, &call.dattn})
        buffer->view().dim[product_dim] = 0;
    return call;
}

template <std::size_t Rank>
void check_that_all_run(Example<Rank>& call) {
    CHECK(call.forward().get_message() == "");
    CHECK(call.backward().get_message() == "");
    CHECK(call.qk().get_message() == "");
    CHECK(call.qk_backward().get_message() == "");
    CHECK(call.av().get_message() == "");
    CHECK(call.av_backward().get_message() == "");
}

template <std::size_t Rank>
void check_sums_of_nothing(DataType_t type) {
    auto no_entries = without<Rank>(0, 0), no_heads = without<Rank>(Rank + 1, 1);
    no_entries.type = type;
    for (Buffer* const buffer : {&no_entries.product_q, &no_entries.product_k, &no_entries.product_dq,
                                 &no_entries.product_dk, &no_entries.dattn})
        buffer->view().type = type;
    no_entries.dbias = Buffer(type, no_entries.dbias.view().dim);
    CHECK(no_entries.qk_backward().get_message() == "");
    for (std::int64_t h = 0; h < 2; ++h) {
        Numbers const sums = bias_of(no_entries.dbias.view(), h);
        CHECK(sums == Numbers(sums.size(), 0.0));
    }
    no_heads.bias.view().dim[0] = no_heads.dbias.view().dim[0] = 0;
    check_that_all_run(no_heads);
}

}  // namespace

TEST_CASE("neighborhood results: without batch entries or heads there is nothing to do, but to write sums of nothing") {
    auto call = without<2>(0, 0);
    check_that_all_run(call);
    for (DataType_t const type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16}) {
        check_sums_of_nothing<1>(type);
        check_sums_of_nothing<2>(type);
        check_sums_of_nothing<3>(type);
    }
}
