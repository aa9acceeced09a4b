// The cost of building a graph that the process has built before, for the CPU and for an H200 that is not there:
//
//     bench_known_graphs [rounds [mebibytes]]
//
// Medians in microseconds. "describe" is the calls that describe the graph, "build" all from there to a plan: in a
// loop, after other work on so many MiB of memory, and after cuDNN compiled the plan of another graph, which leaves the
// caches as a program's other work does. Then the staged calls, in a loop. A graph under a new name is validated,
// expanded and compared with the graphs that were lowered before.
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
using StepTimes = std::array<double, kSteps.size()>;

// Each of the staged calls.
StepTimes time_stages(fe::graph::Graph& graph, bool is_backward, std::string const& name, fe::Target const& target) {
    StepTimes times{};
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

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// The subject of a measurement: the graph, and other work before each build.
struct Subject {
    bool is_backward, is_renamed;
    fe::Target target;

    std::string name(char const* state, int round) const { return state + (is_renamed ? std::to_string(round) : ""); }
};

using OtherWork = void (*)(std::vector<char>& memory);

void no_other_work(std::vector<char>&) {}

void write_memory(std::vector<char>& memory) {
    for (std::size_t i = 0; i < memory.size(); i += 64) ++memory[i];
}

// Each call has another number of rows, since a known graph would not be compiled.
void compile_another_plan(std::vector<char>&) {
    static std::int64_t rows = 0;
    fe::graph::Graph graph;
    std::array<bench::Tensor, 3> qkv;
    rows += 8;
    for (bench::Tensor& tensor : qkv) {
        tensor = graph.tensor(
            fe::graph::Tensor_attributes().set_dim({1, 1, rows, 64}).set_stride({rows * 64, rows * 64, 64, 1}));
    }
    graph.set_io_data_type(fe::DataType_t::BFLOAT16).set_compute_data_type(fe::DataType_t::FLOAT);
    bench::describe_forward(graph, qkv);
    require(graph.build(fe::Target::offline("h200")));
}

// The first round compiles, and does not count.
void print_builds(Subject const& subject, char const* state, OtherWork other_work, std::vector<char>& memory,
                  int rounds) {
    std::vector<double> described, built;
    for (int round = 0; round <= rounds; ++round) {
        fe::graph::Graph graph;
        other_work(memory);
        double const begin = microseconds();
        describe(graph, subject.is_backward, subject.name(state, round));
        double const middle = microseconds();
        require(graph.build(subject.target));
        double const end = microseconds();
        if (round == 0) continue;
        described.push_back(middle - begin);
        built.push_back(end - middle);
    }
    std::printf(" %8.1f %8.1f |", median(described), median(built));
}

void print_stages(Subject const& subject, int rounds) {
    std::array<std::vector<double>, kSteps.size()> steps;
    for (int round = 0; round <= rounds; ++round) {
        fe::graph::Graph graph;
        StepTimes const times = time_stages(graph, subject.is_backward, subject.name("staged", round), subject.target);
        if (round == 0) continue;
        for (std::size_t i = 0; i < steps.size(); ++i) steps[i].push_back(times[i]);
    }
    for (auto const& step : steps) std::printf(" %12.1f", median(step));
    std::printf("\n");
}

void report(char const* where, Subject const& subject, int rounds, std::vector<char>& memory) {
    constexpr int kMostCompilations = 25;
    std::printf("%-13s %-9s %-13s", where, subject.is_backward ? "backward" : "forward",
                subject.is_renamed ? "new name" : "known");
    print_builds(subject, "loop", no_other_work, memory, rounds);
    print_builds(subject, "memory", write_memory, memory, rounds);
    if (fe::runtime::cudnn_version() == 0) std::printf(" %17s |", "no cuDNN");
    else print_builds(subject, "compile", compile_another_plan, memory, std::min(rounds, kMostCompilations));
    print_stages(subject, rounds);
}

void report_all(char const* where, fe::Target const& target, int rounds, std::vector<char>& memory) {
    for (bool const is_backward : {false, true}) {
        for (bool const is_renamed : {true, false}) report(where, {is_backward, is_renamed, target}, rounds, memory);
    }
}

}  // namespace

int main(int count, char** arguments) {
    int const rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 300;
    int const mebibytes = count > 2 ? std::max(0, std::atoi(arguments[2])) : 8;
    std::vector<char> memory(static_cast<std::size_t>(mebibytes) << 20);
    std::printf("%37s %17s | %17s | %17s |\n", "", "in a loop", "after other work", "after compiling");
    std::printf("%-13s %-9s %-13s", "target", "graph", "");
    for (int state = 0; state < 3; ++state) std::printf(" %8s %8s |", "describe", "build");
    for (char const* step : kSteps) std::printf(" %12s", step);
    std::printf("\n");
    report_all("cpu", fe::Target::cpu(1), rounds, memory);
    if (fe::runtime::cudnn_version() == 0) {
        std::puts("offline h200: left out, since there is no cuDNN here");
        return 0;
    }
    report_all("offline h200", fe::Target::offline("h200"), rounds, memory);
    return 0;
}
