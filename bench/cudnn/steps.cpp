// Training steps whose shapes no step had before: each describes, builds and runs the graphs of a forward and a
// backward pass. The graph API's side of bench/steps.py.
//
//     bench_cudnn_steps [steps [steps of exact shapes]]
//
// Milliseconds of the calling thread for a whole step, until the GPU is done, and microseconds to describe and build
// both graphs; medians of the steps after the first 20. Without a GPU the steps are only built, for an H100.
#include "gpu_attention.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>

namespace {

namespace fe = cudnn_frontend;
using bench::Row;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMostBatches = 4, kMostLength = 2000;

Row row_of(std::int64_t batches, std::int64_t length) {
    Row row{"step", fe::Rewrite_t::BANDS, batches, 16, 16, length, length, 128};
    row.rows_first = row.causal = true;
    return row;
}

double microseconds(Clock::time_point begin, Clock::time_point end) {
    return std::chrono::duration<double, std::micro>(end - begin).count();
}

// The GPU and the memory of all steps; empty without a GPU.
struct Machine {
    std::optional<bench::Gpu> gpu;
    std::optional<bench::Buffers> buffers;
    std::optional<bench::Memory> workspace;

    fe::Target target() const { return gpu ? gpu->target() : fe::Target::offline("h100"); }
};

struct Times {
    double whole = 0.0, building = 0.0;  // microseconds
};

bool run(fe::graph::Graph& graph, Machine const& machine) {
    return !machine.gpu ||
           bench::good(graph.execute(machine.gpu->handle(), machine.buffers->pack(), machine.workspace->get()), "run");
}

std::optional<Times> step(Row const& row, fe::ShapePolicy_t policy, Machine const& machine) {
    Times times;
    auto const begin = Clock::now();
    for (bool const is_backward : {false, true}) {
        auto const start = Clock::now();
        fe::graph::Graph graph;
        bench::describe_pass(row, is_backward, graph);
        graph.set_shape_policy(policy);
        if (!bench::good(graph.build(machine.target()), "build")) return {};
        times.building += microseconds(start, Clock::now());
        if (!run(graph, machine)) return {};
    }
    if (machine.gpu) cudaStreamSynchronize(machine.gpu->stream());
    times.whole = microseconds(begin, Clock::now());
    return times;
}

double rank(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

void report(char const* name, fe::ShapePolicy_t policy, int steps, Machine const& machine) {
    constexpr int kFirst = 20;
    constexpr double kPlan = 10000.0;
    std::mt19937 random(1);
    std::vector<double> whole, building;
    int waits = 0;
    for (int i = 0; i < steps; ++i) {
        auto const batches = static_cast<std::int64_t>(random() % kMostBatches + 1);
        auto const length = static_cast<std::int64_t>(random() % (kMostLength - 100) + 100);
        auto const times = step(row_of(batches, length), policy, machine);
        if (!times) return;
        if (times->building > kPlan) ++waits;
        if (i < std::min(kFirst, steps - 1)) continue;
        whole.push_back(times->whole);
        building.push_back(times->building);
    }
    if (whole.empty()) return;
    std::printf("%-10s %5d steps: %9.3f ms, p99 %9.3f ms; describe and build %9.1f us; %d steps built plans\n", name,
                steps, rank(whole, 0.5) / 1000.0, rank(whole, 0.99) / 1000.0, rank(building, 0.5), waits);
}

}  // namespace

int main(int argc, char** argv) {
    int const steps = argc > 1 ? std::atoi(argv[1]) : 200, exact_steps = argc > 2 ? std::atoi(argv[2]) : 30;
    Machine machine;
    int count = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) {
        machine.gpu.emplace();
        machine.buffers.emplace(row_of(kMostBatches, kMostLength));
        machine.workspace.emplace(std::size_t{1} << 31);
    } else {
        std::printf("no GPU: the steps are built for an H100, and do not run\n");
    }
    report("exact", fe::ShapePolicy_t::EXACT, exact_steps, machine);
    report("classes", fe::ShapePolicy_t::CLASSES, steps, machine);
    report("all shapes", fe::ShapePolicy_t::ALL_SHAPES, steps, machine);
}
