// Each rewrite is tried on graphs that do not ask for all results. The program, where the rewrite applies, and the
// graph as given write the requested results, right, and nothing else.
#include "reference/cases/neighborhood_case.h"
#include "reference/cases/rewrite_case.h"
#include "reference/checks/check_case.h"
#include "support/catch.h"

using namespace sdpa_test;
using cudnn_frontend::Rewrite_t;

namespace {

constexpr std::uint64_t kCases = 40;
constexpr double kDouble = 0x1p-53;

// Every choice of one or two of the three gradients.
std::vector<ResultSet> some_gradients() {
    using enum AttentionResult;
    return {{DQ}, {DK}, {DV}, {DQ, DK}, {DQ, DV}, {DK, DV}};
}

// The number of passes, forward and backward, that ran as programs.
std::uint64_t check(AttentionCase const& c, std::optional<Rewrite_t> rewrite, Target const& target) {
    Rig rig(target);
    rig.joins_parts = true;
    rig.prepare = [&](Graph& graph) {
        if (rewrite) ask_for(*rewrite, c, graph);
    };
    Outcome const outcome = check_case(c, rig);
    INFO("case: " << describe(c));
    CHECK(outcome.faults() == "");
    return (outcome.forward.ran_program ? 1 : 0) + (outcome.backward.ran_program ? 1 : 0);
}

// The number of programs that ran, in all cases.
std::uint64_t sweep(Rewrite_t rewrite, AttentionCase (*make)(std::uint64_t), std::vector<ResultSet> const& left_out) {
    std::uint64_t programs = 0;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        INFO("case " << index);
        Target const target = index % 4 == 0 ? Target::reference() : Target::cpu(1);
        AttentionCase c = make(index);
        c.generate_stats = true;
        for (ResultSet const& some : left_out) {
            c.left_out = some;
            CHECK(check(c, {}, target) == 0);
            programs += check(c, rewrite, target);
        }
    }
    return programs;
}

NeighborhoodCase line(std::uint64_t seed) {
    NeighborhoodCase test = random_neighborhood_case(seed, {.longest = {60, 60, 60}});
    test.axes.resize(1);
    test.has_bias = test.masks_first_head = false;
    test.generates_stats = true;
    test.layout = NeighborhoodLayout::Packed;
    test.axes.front() = {30 + static_cast<std::int64_t>(seed), 5, 1 + static_cast<std::int64_t>(seed % 3)};
    return test;
}

// The number of programs that ran.
std::uint64_t check_line(NeighborhoodFunction function, NeighborhoodCase const& test, bool on_reference) {
    INFO(test.text());
    auto const run = runner_on_host(on_reference ? Target::reference() : Target::cpu(1));
    NeighborhoodError error = on_reference ? error_of_sums(test, kDouble) : error_on_cpu(test);
    CHECK(check_neighborhood(function, test, run, error) == "");
    std::uint64_t programs = 0;
    auto const run_as_band = [&](Graph& graph, GraphTensors const& tensors) {
        graph.set_rewrites({Rewrite_t::NEIGHBORHOOD_BAND});
        std::string fault = run(graph, tensors), plan;
        programs += graph.get_plan_name(plan).is_good() && plan.starts_with("program ") ? 1 : 0;
        return fault;
    };
    if (function == NeighborhoodFunction::Backward) error.roundings = 4.0;  // of two parts, before they are added up
    else if (!on_reference) error.roundings = 1.0;  // the CPU may round probabilities to BFLOAT16
    CHECK(check_neighborhood(function, test, run_as_band, error) == "");
    return programs;
}

std::uint64_t sweep_lines(NeighborhoodFunction function, std::vector<ResultSet> const& left_out) {
    std::uint64_t programs = 0;
    for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
        NeighborhoodCase test = line(seed);
        for (ResultSet const& some : left_out) {
            test.left_out = some;
            programs += check_line(function, test, seed % 4 == 0);
        }
    }
    return programs;
}

}  // namespace

TEST_CASE("few queries: without Stats a program runs, without O the graph as given") {
    CHECK(sweep(Rewrite_t::FEW_QUERIES, few_queries_case, {{AttentionResult::Stats}}) >= kCases * 9 / 10);
    CHECK(sweep(Rewrite_t::FEW_QUERIES, few_queries_case, {{AttentionResult::O}}) == 0);
}

TEST_CASE("bands: without one of the gradients the graph runs as given") {
    CHECK(sweep(Rewrite_t::BANDS, bands_case, some_gradients()) == 0);
}

TEST_CASE("slices: without one of the gradients the graph runs as given") {
    CHECK(sweep(Rewrite_t::SLICES, slices_case, some_gradients()) == 0);
}

TEST_CASE("neighborhood_band: without Stats a program runs, without another result the graph as given") {
    CHECK(sweep_lines(NeighborhoodFunction::Forward, {{AttentionResult::Stats}}) == kCases);
    CHECK(sweep_lines(NeighborhoodFunction::Forward, {{AttentionResult::O}}) == 0);
    CHECK(sweep_lines(NeighborhoodFunction::Backward, some_gradients()) == 0);
}
