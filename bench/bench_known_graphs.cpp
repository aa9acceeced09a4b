// What building a graph costs that the process has built before, for the CPU and for an H200 that is not there:
//
//     bench_known_graphs [rounds [mebibytes]]
//
// Medians in microseconds, from the first call that describes the graph to a plan: of build(), also after other work
// on so many MiB of memory, and of the staged calls. A graph under a new name is validated, expanded and
// compared with what was lowered before.
#include <cudnn_frontend/runtime.h>

#include "attention_graph.h"
#include "process.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using bench::describe;

double microseconds() { return 1e6 * bench::elapsed_seconds(); }

void require(fe::error_t const& status) {
    if (status.is_good()) return;
    std::fprintf(stderr, "%s\n", status.get_message().c_str());
    std::exit(1);
}

constexpr std::array kSteps{"describe", "validate", "lower", "create plans", "check", "build plans"};
using Times = std::array<double, kSteps.size()>;

// Each of the staged calls.
Times time_stages(fe::graph::Graph& graph, bool is_backward, std::string const& name, fe::Target const& target) {
    Times times{};
    double begin = microseconds();
    auto const took = [&](std::size_t step, fe::error_t const& status) {
        double const end = microseconds();
        times[step] = end - begin;
        require(status);
        begin = microseconds();
    };
    describe(graph, is_backward, name);
    took(0, {});
    took(1, graph.validate());
    took(2, graph.build_operation_graph(target));
    took(3, graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));
    took(4, graph.check_support());
    took(5, graph.build_plans());
    return times;
}

// As other work between two builds does.
void empty_caches(std::vector<char>& memory) {
    for (std::size_t i = 0; i < memory.size(); i += 64) ++memory[i];
}

double time_build(fe::graph::Graph& graph, bool is_backward, std::string const& name, fe::Target const& target) {
    double const begin = microseconds();
    describe(graph, is_backward, name);
    require(graph.build(target));
    return microseconds() - begin;
}

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Medians {
    double build = 0, cold_build = 0;
    Times stages{};
};

Medians measure(bool is_backward, bool is_renamed, fe::Target const& target, int rounds, std::vector<char>& other) {
    std::vector<double> builds, cold_builds;
    std::array<std::vector<double>, kSteps.size()> steps;
    for (int round = 0; round <= rounds; ++round) {
        std::string const suffix = is_renamed ? std::to_string(round) : "";
        fe::graph::Graph built, staged;
        double const time = time_build(built, is_backward, "graph" + suffix, target);
        Times const times = time_stages(staged, is_backward, "staged" + suffix, target);
        if (round == 0) continue;  // compiles
        builds.push_back(time);
        for (std::size_t i = 0; i < steps.size(); ++i) steps[i].push_back(times[i]);
    }
    for (int round = 0; round <= rounds; ++round) {
        fe::graph::Graph graph;
        empty_caches(other);
        double const time = time_build(graph, is_backward, "cold" + (is_renamed ? std::to_string(round) : ""), target);
        if (round > 0) cold_builds.push_back(time);
    }
    Medians medians{median(builds), median(cold_builds)};
    for (std::size_t i = 0; i < steps.size(); ++i) medians.stages[i] = median(steps[i]);
    return medians;
}

void report(char const* where, fe::Target const& target, int rounds, std::vector<char>& other) {
    for (bool const is_backward : {false, true}) {
        for (bool const is_renamed : {true, false}) {
            Medians const medians = measure(is_backward, is_renamed, target, rounds, other);
            std::printf("%-13s %-9s %-13s %8.1f %8.1f |", where, is_backward ? "backward" : "forward",
                        is_renamed ? "new name" : "known", medians.build, medians.cold_build);
            for (double const time : medians.stages) std::printf(" %12.1f", time);
            std::printf("\n");
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    int const rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 300;
    int const mebibytes = count > 2 ? std::max(0, std::atoi(arguments[2])) : 8;
    std::vector<char> other(static_cast<std::size_t>(mebibytes) << 20);
    std::printf("%-13s %-9s %-13s %8s %8s |", "target", "graph", "", "build()", "cold");
    for (char const* step : kSteps) std::printf(" %12s", step);
    std::printf("\n");
    report("cpu", fe::Target::cpu(1), rounds, other);
    if (fe::runtime::cudnn_version() == 0) {
        std::puts("offline h200: left out, since there is no cuDNN here");
        return 0;
    }
    report("offline h200", fe::Target::offline("h200"), rounds, other);
    return 0;
}
