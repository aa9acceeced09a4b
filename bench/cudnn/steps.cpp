// Training steps whose shapes no step had before: each describes, builds and runs the graphs of a forward and a
// backward pass, or resizes the plans of two graphs. The graph API's side of bench/steps.py.
//
//     bench_cudnn_steps [steps [steps of exact shapes]]
//
// Milliseconds of the calling thread for a whole step, until the GPU is done, and microseconds to get both plans;
// medians of the steps after the first 20. In a program, other work fills the processor's caches between steps: "cold"
// does that. Without a GPU the plans are only made, for an H100.
#include "gpu_attention.h"

#include <cudnn_frontend/resized_plan.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <vector>

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
    double whole = 0.0, planning = 0.0;  // microseconds
};

// How steps get their plans.
struct Way {
    char const* name;
    fe::ShapePolicy_t policy;
    bool resizes = false, is_cold = false;
};

template <class Plan>
bool run(Plan const& plan, Machine const& machine) {
    return !machine.gpu ||
           bench::good(plan.execute(machine.gpu->handle(), machine.buffers->pack(), machine.workspace->get()), "run");
}

// The plans of a pass.
class Pass {
   public:
    Pass(Way const& way, bool is_backward, Machine const& machine)
        : way_(way), is_backward_(is_backward), machine_(machine) {}

    // Runs a plan for the row; returns the time that it took to get it.
    std::optional<double> run_for(Row const& row) {
        if (way_.resizes && !resizable_) {
            resizable_.emplace();
            if (!build(row, *resizable_)) return {};
        }
        auto const start = Clock::now();
        if (way_.resizes) {
            fe::graph::Resized_plan plan;
            if (!resize(row, plan)) return {};
            return run_timed(plan, start);
        }
        fe::graph::Graph graph;
        if (!build(row, graph)) return {};
        return run_timed(graph, start);
    }

   private:
    bool build(Row const& row, fe::graph::Graph& graph) const {
        bench::describe_pass(row, is_backward_, graph);
        graph.set_shape_policy(way_.policy);
        return bench::good(graph.build(machine_.target()), "build");
    }

    bool resize(Row const& row, fe::graph::Resized_plan& plan) const {
        constexpr int kFirst = bench::Uid::Q;
        std::array<bench::Dims, bench::Uid::DV + 1> dims, strides;
        std::vector<fe::graph::Tensor_shape> shapes;
        for (int uid = kFirst; uid <= (is_backward_ ? bench::Uid::DV : bench::Uid::Stats); ++uid) {
            auto const at = static_cast<std::size_t>(uid);
            dims[at] = bench::dims_of(row, static_cast<bench::Uid>(uid));
            strides[at] = bench::strides_of(row, static_cast<bench::Uid>(uid));
            shapes.push_back({uid, dims[at].data(), strides[at].data(), dims[at].size()});
        }
        return bench::good(fe::graph::Resized_plan::make(*resizable_, shapes.data(), shapes.size(), plan), "resize");
    }

    template <class Plan>
    std::optional<double> run_timed(Plan const& plan, Clock::time_point start) const {
        double const planning = microseconds(start, Clock::now());
        return run(plan, machine_) ? std::optional(planning) : std::nullopt;
    }

    Way way_;
    bool is_backward_;
    Machine const& machine_;
    std::optional<fe::graph::Graph> resizable_;
};

// Leaves none of the library's data in the caches that belong to a core.
void cool() {
    constexpr std::size_t kBytes = std::size_t{8} << 20, kLine = 64;
    static std::vector<char> other(kBytes);
    for (std::size_t at = 0; at < kBytes; at += kLine) ++other[at];
}

std::optional<Times> step(Row const& row, std::span<Pass> passes, Machine const& machine) {
    Times times;
    auto const begin = Clock::now();
    for (Pass& pass : passes) {
        auto const planning = pass.run_for(row);
        if (!planning) return {};
        times.planning += *planning;
    }
    if (machine.gpu) cudaStreamSynchronize(machine.gpu->stream());
    times.whole = microseconds(begin, Clock::now());
    return times;
}

double rank(std::vector<double> values, double share) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

// The shapes come from the generator, so that no other way had them.
void report(Way const& way, int steps, Machine const& machine, std::mt19937& random) {
    constexpr int kFirst = 20;
    constexpr double kPlan = 10000.0;
    std::array passes{Pass(way, false, machine), Pass(way, true, machine)};
    std::vector<double> whole, planning;
    int waits = 0;
    for (int i = 0; i < steps; ++i) {
        auto const batches = static_cast<std::int64_t>(random() % kMostBatches + 1);
        auto const length = static_cast<std::int64_t>(random() % (kMostLength - 100) + 100);
        if (way.is_cold) cool();
        auto const times = step(row_of(batches, length), passes, machine);
        if (!times) return;
        if (times->planning > kPlan) ++waits;
        if (i < std::min(kFirst, steps - 1)) continue;
        whole.push_back(times->whole);
        planning.push_back(times->planning);
    }
    if (whole.empty()) return;
    std::printf("%-16s %5d steps: %9.3f ms, p99 %9.3f ms; both plans %9.1f us; %d steps built plans\n", way.name, steps,
                rank(whole, 0.5) / 1000.0, rank(whole, 0.99) / 1000.0, rank(planning, 0.5), waits);
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
        std::printf("no GPU: the plans are made for an H100, and do not run\n");
    }
    using enum fe::ShapePolicy_t;
    std::mt19937 random(1);
    report({"exact", EXACT}, exact_steps, machine, random);
    for (Way const& way : {Way{"classes", CLASSES}, Way{"all shapes", ALL_SHAPES}, Way{"resized", ALL_SHAPES, true},
                           Way{"classes, cold", CLASSES, false, true}, Way{"all shapes, cold", ALL_SHAPES, false, true},
                           Way{"resized, cold", ALL_SHAPES, true, true}}) {
        report(way, steps, machine, random);
    }
}
