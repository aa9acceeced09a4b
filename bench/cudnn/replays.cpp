#include "replays.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

namespace bench {
namespace {

constexpr double kMostOfKernels = 1.1;
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

bool is_child(cudaGraphNode_t node) {
    cudaGraphNodeType type = cudaGraphNodeTypeKernel;
    good(cudaGraphNodeGetType(node, &type));
    return type == cudaGraphNodeTypeGraph;
}

// A copy of the graph with one of its nodes alone.
CudaGraph alone(cudaGraph_t graph, cudaGraphNode_t node) {
    cudaGraph_t copy = nullptr;
    cudaGraphNode_t kept = nullptr;
    good(cudaGraphClone(&copy, graph));
    good(cudaGraphNodeFindInClone(&kept, node, copy));
    for (cudaGraphNode_t const each : nodes_of(copy)) {
        if (each != kept) good(cudaGraphDestroyNode(each));
    }
    return CudaGraph(copy);
}

// Every kernel, copy and fill of the graph and of those in it, in a graph of its own.
void add_leaves(cudaGraph_t graph, std::vector<CudaGraph>& leaves) {
    for (cudaGraphNode_t const node : nodes_of(graph)) {
        if (!is_child(node)) {
            leaves.push_back(alone(graph, node));
            continue;
        }
        cudaGraph_t child = nullptr;
        good(cudaGraphChildGraphNodeGetGraph(node, &child));
        add_leaves(child, leaves);
    }
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

// Of a kernel among others like it: what a chain twice as long takes more.
double time_kernel(cudaGraph_t kernel, cudaStream_t stream) {
    constexpr double kMicrosecondsOfChain = 300.0;
    int const times = std::clamp(static_cast<int>(kMicrosecondsOfChain / time_launches(kernel, stream)), 1, 16);
    double const once = time_launches(repeated(kernel, times).get(), stream);
    double const twice = time_launches(repeated(kernel, 2 * times).get(), stream);
    return (twice - once) / times;
}

// Microseconds of the CPU in one call, in the median; the GPU's queue is emptied between calls.
double time_calls(Gpu const& gpu, fe::graph::Graph& graph, Pack const& pack, void* workspace) {
    constexpr int kCalls = 500;
    std::vector<double> times;
    for (int i = 0; i < kCalls; ++i) {
        double const begin = now();
        if (!good(graph.execute(gpu.handle(), pack, workspace), "execute")) return 0.0;
        times.push_back(now() - begin);
        good(cudaStreamSynchronize(gpu.stream()));
    }
    return median(times);
}

std::size_t workspace_of(fe::graph::Graph const& graph) {
    std::int64_t bytes = 0;
    good(graph.get_workspace_size(bytes), "workspace");
    return static_cast<std::size_t>(bytes);
}

}  // namespace

void print_replay_heading() {
    std::printf("%-30s %5s %7s %10s %10s %7s %10s %10s %9s\n", "", "steps", "kernels", "their sum", "replay", "ratio",
                "call given", "program", "per step");
}

bool measure_replay(Gpu const& gpu, Row const& row, fe::graph::Graph& given, fe::graph::Graph& program) {
    Buffers const buffers(row);
    Memory const workspace(std::max(workspace_of(given), workspace_of(program)));
    CudaGraph const graph = empty_graph();
    if (!good(program.populate_cuda_graph(gpu.handle(), buffers.pack(), workspace.get(), graph.get()), "capture")) {
        return false;
    }
    std::vector<CudaGraph> kernels;
    add_leaves(graph.get(), kernels);
    double sum = 0.0;
    for (CudaGraph const& kernel : kernels) sum += time_kernel(kernel.get(), gpu.stream());
    double const replay = time_launches(graph.get(), gpu.stream());
    double const of_given = time_calls(gpu, given, buffers.pack(), workspace.get());
    double const of_program = time_calls(gpu, program, buffers.pack(), workspace.get());
    auto const steps = static_cast<double>(nodes_of(graph.get()).size());
    bool const is_fast = replay <= kMostOfKernels * sum && of_program <= steps * of_given;
    std::printf("%-30s %5.0f %7zu %10.1f %10.1f %7.2f %10.2f %10.2f %9.2f%s\n", row.name, steps, kernels.size(), sum,
                replay, replay / sum, of_given, of_program, of_program / (steps * of_given),
                is_fast ? "" : "  TOO SLOW");
    std::fflush(stdout);
    return is_fast;
}

}  // namespace bench
