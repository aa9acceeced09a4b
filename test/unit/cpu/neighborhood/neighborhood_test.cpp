#include "support/catch.h"

#include "../attention/kernel_sets.h"
#include "neighborhood_data.h"

#include "core/data_type.h"

#include <cmath>
#include <limits>

using namespace neighborhood_test;
using fe::DataType_t;
using enum Function;

namespace {

// Rounding of the results' type, and of float sums inside.
double tolerance(DataType_t type) {
    if (type == DataType_t::BFLOAT16) return 1e-2;
    return type == DataType_t::HALF ? 2e-3 : 1e-4;
}

// Runs in an unaligned workspace of exactly the required size, and checks that its surroundings are unchanged.
void run(NeighborhoodCase const& test, Data& data, int threads) {
    constexpr std::size_t kGuard = 256;
    constexpr std::byte kPattern{0x5C};
    auto const problem = data.problem(test);
    auto const size = static_cast<std::size_t>(fe::cpu::neighborhood_workspace(problem, threads));
    std::vector<std::byte> memory(size + 2 * kGuard + 4, kPattern);
    std::byte* const workspace = memory.data() + kGuard + 4;
    neighborhood_attention(problem, threads, workspace);
    for (std::byte const* at = memory.data(); at < workspace; ++at) REQUIRE(*at == kPattern);
    for (std::byte const* at = workspace + size; at < memory.data() + memory.size(); ++at) REQUIRE(*at == kPattern);
}

double worst_error(NeighborhoodCase const& test, Tensor const& actual, Tensor const& expected) {
    double worst = 0.0;
    for (std::int64_t b = 0; b < test.batches; ++b) {
        for (std::int64_t h = 0; h < test.heads; ++h) {
            Numbers const found = actual.rows(b, h), wanted = expected.rows(b, h);
            for (std::size_t at = 0; at < found.size(); ++at) {
                if (found[at] == wanted[at]) continue;
                double const error = std::abs(found[at] - wanted[at]) / (1.0 + std::abs(wanted[at]));
                worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
            }
        }
    }
    return worst;
}

void check(Function function, NeighborhoodCase const& test) {
    INFO("function " << static_cast<int>(function) << ", " << test.text());
    Data actual = make_data(function, test), expected = make_data(function, test);
    run(test, actual, 1);
    expect(test, expected);
    auto const found = actual.results(test), wanted = expected.results(test);
    for (std::size_t r = 0; r < found.size(); ++r) {
        CAPTURE(r);
        CHECK(worst_error(test, *found[r], *wanted[r]) <= tolerance(found[r]->view.type));
        CHECK(found[r]->has_intact_gaps(test));
    }
}

constexpr Function kAll[] = {Forward, Backward, Qk, QkBackward, Av, AvBackward};

}  // namespace

TEST_CASE("fused neighborhood attention is its formula, in random cases") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        Function const function = kAll[seed % std::size(kAll)];
        check(function, random_case(function, seed));
    }
}

TEST_CASE("fused neighborhood attention is its formula along every short axis") {
    for (std::int64_t length = 1; length <= 9; ++length) {
        for (std::int64_t dilation = 1; dilation <= length; ++dilation) {
            for (std::int64_t kernel = 1; kernel * dilation <= length; ++kernel) {
                for (bool const is_causal : {false, true}) {
                    for (Function const function : kAll)
                        check(function, case_of({{length, kernel, dilation, is_causal}}));
                }
            }
        }
    }
}

TEST_CASE("fused neighborhood attention is its formula over more keys and queries than a tile has") {
    for (Function const function : kAll) {
        check(function, case_of({{300, 151, 1}}));
        check(function, case_of({{300, 150, 2, true}}));
        check(function, case_of({{31, 11, 1}, {37, 13, 2}}));
        check(function, case_of({{7, 5, 1, true}, {9, 9, 1}, {11, 3, 3}}));
    }
}

TEST_CASE("fused neighborhood attention multiplies pairs of BFLOAT16 numbers with every set of kernels") {
    for (auto const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        attention_test::Forced const forced(kernels);
        std::vector<NeighborhoodCase> cases{case_of({{300, 150, 2, true}}), case_of({{31, 11, 1}, {37, 13, 2}}),
                                            case_of({{7, 5, 1, true}, {9, 9, 1}, {11, 3, 3}})};
        for (std::uint64_t seed = 2000; seed < 2040; ++seed) cases.push_back(random_case(Forward, seed));
        for (NeighborhoodCase& test : cases) {
            test.type = DataType_t::BFLOAT16;
            check(Forward, test);
        }
    }
}

TEST_CASE("fused neighborhood attention gives the same bits with any number of threads") {
    for (std::uint64_t seed = 1000; seed <= 1040; ++seed) {
        Function const function = kAll[seed % std::size(kAll)];
        NeighborhoodCase const test = random_case(function, seed);
        INFO(test.text());
        Data one = make_data(function, test);
        run(test, one, 1);
        for (int const threads : {2, 3, 16}) {
            Data many = make_data(function, test);
            run(test, many, threads);
            for (std::size_t r = 0; r < one.results(test).size(); ++r)
                CHECK(one.results(test)[r]->memory == many.results(test)[r]->memory);
        }
    }
}

TEST_CASE("what a query of a neighborhood does not see stays out of its results, even NaN") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    auto const check_hidden = [&](Function function, NeighborhoodCase const& test) {
        INFO(test.text());
        Data clean = make_data(function, test), wild = make_data(function, test);
        // The last token's rows: it is not visible to queries below 38, and no key below 37 is visible to it.
        for (Tensor* const tensor : {&wild.q, &wild.k, &wild.v, &wild.d_o}) {
            Numbers rows = tensor->rows(0, 0);
            for (std::size_t column = 1; column <= 8; ++column) rows[rows.size() - column] = nan;
            tensor->set_rows(0, 0, rows);
        }
        run(test, clean, 1);
        run(test, wild, 1);
        for (std::size_t r = 0; r < clean.results(test).size(); ++r) {
            Numbers const expected = clean.results(test)[r]->rows(0, 0), found = wild.results(test)[r]->rows(0, 0);
            auto const columns = static_cast<std::size_t>(clean.results(test)[r]->columns);
            for (std::size_t at = 0; at < 37 * columns; ++at) CHECK(found[at] == expected[at]);
        }
    };
    NeighborhoodCase test = case_of({{40, 3, 1}});
    for (Function const function : {Forward, Backward, Av, AvBackward, QkBackward}) check_hidden(function, test);
    test.type = DataType_t::BFLOAT16;
    for (auto const* const kernels : attention_test::kernel_sets()) {
        CAPTURE(kernels->name);
        attention_test::Forced const forced(kernels);
        check_hidden(Forward, test);
    }
}

TEST_CASE("the workspace of fused neighborhood attention grows with the tokens, and not with their squares") {
    for (Function const function : kAll) {
        NeighborhoodCase test = case_of({{8, 7, 1}, {32, 7, 1}});
        test.heads = 4;
        auto problem = make_data(function, test).problem(test);
        auto const small = fe::cpu::neighborhood_workspace(problem, 4);
        problem.axes[1].length *= 1024;
        auto const large = fe::cpu::neighborhood_workspace(problem, 4);
        std::int64_t const tokens = 8 * 32 * 1024 * test.heads;
        CHECK(large <= small + tokens * 4 + 65536);
        CHECK(large >= small);
    }
}

TEST_CASE("the formula's gradients are the differences of its results") {
    neighborhood_formula::Head head{{{7, 3, 2}, {5, 2, 1, true}}, 3, 0.7, {}, {}, {}, {}};
    NeighborhoodCase test = case_of(head.axes);
    test.width = head.width;
    Data const data = make_data(Forward, test);
    head.q = data.q.rows(0, 0), head.k = data.k.rows(0, 0), head.v = data.v.rows(0, 0);
    head.bias = data.bias.rows(0, 0);
    Numbers const d_o = data.v.rows(0, 0);
    auto const loss = [&](neighborhood_formula::Head const& of) {
        Numbers const o = fused_forward(of).o;
        double sum = 0.0;
        for (std::size_t at = 0; at < o.size(); ++at) sum += o[at] * d_o[at];
        return sum;
    };
    auto const forward = fused_forward(head);
    auto const found = fused_backward(head, forward.o, forward.stats, d_o);
    constexpr double kStep = 1e-6;
    auto const difference = [&](Numbers neighborhood_formula::Head::*of, std::size_t at) {
        auto above = head, below = head;
        (above.*of)[at] += kStep;
        (below.*of)[at] -= kStep;
        return (loss(above) - loss(below)) / (2.0 * kStep);
    };
    using neighborhood_formula::Head;
    for (std::size_t at = 0; at < head.q.size(); ++at) {
        CHECK(found.q[at] == Approx(difference(&Head::q, at)).margin(1e-7));
        CHECK(found.k[at] == Approx(difference(&Head::k, at)).margin(1e-7));
        CHECK(found.v[at] == Approx(difference(&Head::v, at)).margin(1e-7));
    }
    for (std::size_t at = 0; at < head.bias.size(); ++at)
        CHECK(found.bias[at] == Approx(difference(&Head::bias, at)).margin(1e-7));
}
