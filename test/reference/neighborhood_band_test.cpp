// Neighborhood attention along one axis as a program of attention, on both CPU targets, against the formula.
#include "reference/cases/neighborhood_case.h"
#include "support/catch.h"

#include <algorithm>

using namespace sdpa_test;
using cudnn_frontend::Rewrite_t;
using cudnn_frontend::Target;
using neighborhood_formula::Axis;

namespace {

constexpr double kDouble = 0x1p-53;

// Runs graphs as bands, and counts them.
GraphRunner runner_of_bands(Target const& target, std::uint64_t& programs) {
    return [run = runner_on_host(target), &programs](cudnn_frontend::graph::Graph& graph, GraphTensors const& tensors) {
        graph.set_rewrites({Rewrite_t::NEIGHBORHOOD_BAND});
        std::string fault = run(graph, tensors), plan;
        bool const is_program = graph.get_plan_name(plan).is_good() && plan.starts_with("program neighborhood_band: ");
        programs += is_program ? 1 : 0;
        return fault;
    };
}

// Checks forward and backward; returns how many of the two were programs.
std::uint64_t check(NeighborhoodCase const& test, bool on_reference) {
    INFO(test.text());
    std::uint64_t programs = 0;
    auto const run = runner_of_bands(on_reference ? Target::reference() : Target::cpu(1), programs);
    NeighborhoodError error = on_reference ? error_of_sums(test, kDouble) : error_on_cpu(test);
    if (!on_reference) error.roundings = 1.0;  // the CPU may round probabilities to BFLOAT16
    CHECK(check_neighborhood(NeighborhoodFunction::Forward, test, run, error) == "");
    error.roundings = 4.0;  // two parts, no more than twice their sum, are rounded before they are added up
    CHECK(check_neighborhood(NeighborhoodFunction::Backward, test, run, error) == "");
    return programs;
}

NeighborhoodCase random_line(std::uint64_t seed) {
    NeighborhoodCase test = random_neighborhood_case(seed, {.longest = {90, 90, 90}});
    test.axes.resize(1);
    test.has_bias = false;
    if (test.layout == NeighborhoodLayout::Scattered) test.layout = NeighborhoodLayout::Packed;
    Axis& axis = test.axes.front();
    if (axis.length / axis.dilation == 1) axis.dilation = 1;
    axis.length = std::max<std::int64_t>(axis.length, 2);
    axis.kernel = std::max<std::int64_t>(axis.kernel, 2);
    return test;
}

NeighborhoodCase line_of(Axis const& axis, DataType_t type) {
    NeighborhoodCase test;
    test.batches = test.heads = 2;
    test.width = 8;
    test.axes = {axis};
    test.type = type;
    return test;
}

}  // namespace

TEST_CASE("a band and its borders are neighborhood attention, in random cases") {
    constexpr std::uint64_t kCases = 1000;
    std::uint64_t programs = 0;
    for (std::uint64_t seed = 1; seed <= kCases; ++seed) programs += check(random_line(seed), seed % 4 == 0);
    CHECK(programs >= 2 * kCases * 9 / 10);  // in the others a dilation's groups are not heads
}

TEST_CASE("bands of every length, even and odd, up to a window of all tokens") {
    for (std::int64_t const kernel : {2, 3, 4, 5, 12, 13}) {
        for (std::int64_t length = kernel; length <= 2 * kernel + 2; ++length) {
            for (bool const is_causal : {false, true}) {
                CHECK(check(line_of({length, kernel, 1, is_causal}, DataType_t::FLOAT), false) == 2);
            }
        }
    }
}

TEST_CASE("groups of a dilation that does not divide the length are parts of two lengths") {
    for (DataType_t const type : {DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16}) {
        for (std::int64_t const length : {40, 41, 46, 47}) {
            for (bool const is_causal : {false, true}) {
                CHECK(check(line_of({length, 5, 8, is_causal}, type), true) == 2);
                CHECK(check(line_of({length, 4, 8, is_causal}, type), false) == 2);
            }
        }
    }
}
