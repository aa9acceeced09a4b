// The functions of neighborhood attention on both CPU targets, against the formula of test/support.
#include "reference/neighborhood_case.h"
#include "support/catch.h"

using namespace sdpa_test;
using cudnn_frontend::Target;
using neighborhood_formula::Axis;

namespace {

constexpr double kSingle = 0x1p-24, kDouble = 0x1p-53;

// Every function that takes the case, on both targets.
void check(NeighborhoodCase const& test) {
    INFO(test.text());
    for (int i = 0; i < kNeighborhoodFunctions; ++i) {
        auto const function = static_cast<NeighborhoodFunction>(i);
        if (!takes(function, test)) continue;
        CAPTURE(i);
        CHECK(check_neighborhood(function, test, runner_on_host(Target::reference()), error_of_sums(test, kDouble)) ==
              "");
        CHECK(check_neighborhood(function, test, runner_on_host(Target::cpu()), error_of_sums(test, kSingle)) == "");
    }
}

NeighborhoodCase case_of(std::vector<Axis> const& axes) {
    NeighborhoodCase test;
    test.batches = 2;
    test.heads = 2;
    test.axes = axes;
    return test;
}

}  // namespace

TEST_CASE("neighborhood attention along a line, at all places that a window may have", "[neighborhood]") {
    for (std::int64_t const dilation : {1, 2, 3}) {
        for (std::int64_t const kernel : {1, 2, 3, 4, 5}) {
            for (bool const is_causal : {false, true}) {
                check(case_of({{17, kernel, dilation, is_causal}}));
                check(case_of({{kernel * dilation, kernel, dilation, is_causal}}));
            }
        }
    }
}

TEST_CASE("neighborhood attention in a picture and in a volume", "[neighborhood]") {
    check(case_of({{7, 3, 2}, {9, 5, 1}}));
    check(case_of({{6, 4, 1}, {9, 3, 3, true}}));
    check(case_of({{5, 5, 1, true}, {4, 1, 4, true}}));
    check(case_of({{4, 3, 1, true}, {5, 3, 1}, {7, 3, 2}}));
    check(case_of({{3, 2, 1}, {3, 3, 1}, {4, 2, 2}}));
}

TEST_CASE("neighborhood attention with a relative position bias and its gradient", "[neighborhood]") {
    for (auto const& axes :
         {std::vector<Axis>{{12, 5, 2}}, {{7, 3, 2}, {5, 5, 1}}, {{4, 3, 1}, {3, 3, 1}, {6, 3, 2}}}) {
        NeighborhoodCase test = case_of(axes);
        test.has_bias = true;
        test.scale = 0.7f;
        check(test);
    }
}

TEST_CASE("neighborhood attention over tensors of other types and layouts", "[neighborhood]") {
    for (DataType_t const type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16}) {
        for (auto const layout :
             {NeighborhoodLayout::Packed, NeighborhoodLayout::Spaced, NeighborhoodLayout::Scattered}) {
            NeighborhoodCase test = case_of({{6, 3, 1}, {8, 3, 2}});
            test.type = type;
            test.layout = layout;
            test.width = 8;
            test.has_bias = true;
            check(test);
        }
    }
}

TEST_CASE("a window as large as the space sees all of it", "[neighborhood]") {
    NeighborhoodCase test = case_of({{5, 5, 1}, {7, 7, 1}});
    test.has_bias = true;
    check(test);
}

TEST_CASE("neighborhood attention in random cases", "[neighborhood]") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) check(random_neighborhood_case(seed));
}
