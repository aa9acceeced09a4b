#include "replays.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <utility>

namespace bench {
namespace {

constexpr double kMostOfSteps = 1.1;
constexpr int kRounds = 5;
constexpr double kMicrosecondsOfRound = 3000.0;

struct GraphDeleter {
    void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using CudaGraph = std::unique_ptr<CUgraph_st, GraphDeleter>;

CudaGraph empty_graph() {
    cudaGraph_t graph = nullptr;
    good(cudaGraphCreate(&graph, 0));
    return CudaGraph(graph);
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    good(cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    if (count > 0) good(cudaGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
}

// The graph of each of a program's steps, as part of the program's.
std::vector<cudaGraph_t> steps_of(cudaGraph_t program) {
    std::vector<cudaGraph_t> steps;
    for (cudaGraphNode_t const node : nodes_of(program)) {
        good(cudaGraphChildGraphNodeGetGraph(node, &steps.emplace_back()));
    }
    return steps;
}

// The graph so many times, one after the other.
CudaGraph repeated(cudaGraph_t graph, int times) {
    CudaGraph chain = empty_graph();
    cudaGraphNode_t last = nullptr;
    for (int i = 0; i < times; ++i) {
        cudaGraphNode_t node = nullptr;
        good(cudaGraphAddChildGraphNode(&node, chain.get(), i == 0 ? nullptr : &last, i == 0 ? 0 : 1, graph));
        last = node;
    }
    return chain;
}

double median(std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

double now() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// Microseconds by the wall clock from one launch to the next, when the GPU never waits for the CPU.
double time_launches(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t instance = nullptr;
    if (!good(cudaGraphInstantiate(&instance, graph, 0))) return 0.0;
    auto const run = [&](int count) {
        double const begin = now();
        for (int i = 0; i < count; ++i) good(cudaGraphLaunch(instance, stream));
        good(cudaStreamSynchronize(stream));
        return (now() - begin) / count;
    };
    int const count = std::clamp(static_cast<int>(kMicrosecondsOfRound / run(2)), 2, 200);
    std::vector<double> times;
    for (int round = 0; round < kRounds; ++round) times.push_back(run(count));
    cudaGraphExecDestroy(instance);
    return median(times);
}

// Of a step's kernels behind others: what a chain of the step that is twice as long takes more.
double time_step(cudaGraph_t step, cudaStream_t stream) {
    constexpr double kMicrosecondsOfChain = 300.0;
    int const times = std::clamp(static_cast<int>(kMicrosecondsOfChain / time_launches(step, stream)), 1, 16);
    double const once = time_launches(repeated(step, times).get(), stream);
    double const twice = time_launches(repeated(step, 2 * times).get(), stream);
    return (twice - once) / times;
}

// Microseconds of the CPU in one call of each, in the median. They take turns, of some calls each, after which the
// GPU's queue is emptied.
std::pair<double, double> time_calls(Gpu const& gpu, std::array<fe::graph::Graph*, 2> graphs, Pack const& pack,
                                     void* workspace) {
    constexpr int kTurns = 100, kCallsOfTurn = 10;
    constexpr double kLongest = 2e6;
    std::vector<double> times[2];
    double const first = now();
    for (int turn = 0; turn < kTurns && (turn < 2 || now() - first < kLongest); ++turn) {
        for (int i = 0; i < kCallsOfTurn; ++i) {
            double const begin = now();
            if (!good(graphs[turn % 2]->execute(gpu.handle(), pack, workspace), "execute")) return {0.0, 0.0};
            times[turn % 2].push_back(now() - begin);
        }
        good(cudaStreamSynchronize(gpu.stream()));
    }
    return {median(times[0]), median(times[1])};
}

std::size_t workspace_of(fe::graph::Graph const& graph) {
    std::int64_t bytes = 0;
    good(graph.get_workspace_size(bytes), "workspace");
    return static_cast<std::size_t>(bytes);
}

}  // namespace

void print_replay_heading() {
    std::printf("%-30s %5s %7s %10s %10s %7s %10s %10s %9s\n", "", "steps", "kernels", "steps' sum", "replay", "ratio",
                "call given", "program", "per step");
}

bool measure_replay(Gpu const& gpu, Row const& row, fe::graph::Graph& given, fe::graph::Graph& program) {
    Buffers const buffers(row);
    Memory const workspace(std::max(workspace_of(given), workspace_of(program)));
    CudaGraph const graph = empty_graph();
    if (!good(program.populate_cuda_graph(gpu.handle(), buffers.pack(), workspace.get(), graph.get()), "capture")) {
        return false;
    }
    std::vector<cudaGraph_t> const steps = steps_of(graph.get());
    std::size_t kernels = 0;
    double sum = 0.0;
    for (cudaGraph_t const step : steps) kernels += nodes_of(step).size(), sum += time_step(step, gpu.stream());
    double const replay = time_launches(graph.get(), gpu.stream());
    auto const [of_given, of_program] = time_calls(gpu, {&given, &program}, buffers.pack(), workspace.get());
    double const calls = static_cast<double>(steps.size()) * of_given;
    bool const is_fast = replay <= kMostOfSteps * sum && of_program <= calls;
    std::printf("%-30s %5zu %7zu %10.1f %10.1f %7.2f %10.2f %10.2f %9.2f%s\n", row.name, steps.size(), kernels, sum,
                replay, replay / sum, of_given, of_program, of_program / calls, is_fast ? "" : "  TOO SLOW");
    std::fflush(stdout);
    return is_fast;
}

}  // namespace bench
