#include "replays.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bench {
namespace {

constexpr double kMostOfSteps = 1.1;
constexpr double kMostOfPart = 1.1;
constexpr int kRounds = 5;
constexpr double kMicrosecondsOfRound = 3000.0;

struct GraphDeleter {
    void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using CudaGraph = std::unique_ptr<CUgraph_st, GraphDeleter>;

CudaGraph empty_graph() {
    cudaGraph_t graph = nullptr;
    good(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    return CudaGraph(graph);
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    if (!good(cudaGraphGetNodes(graph, nullptr, &count), "cudaGraphGetNodes")) return {};
    std::vector<cudaGraphNode_t> nodes(count);
    if (count > 0) good(cudaGraphGetNodes(graph, nodes.data(), &count), "cudaGraphGetNodes");
    return nodes;
}

// Copies of the graphs of a program's steps; none where one cannot be had. A graph that belongs to a node is neither
// instantiated nor added to another graph.
std::vector<CudaGraph> copies_of_steps(cudaGraph_t program) {
    std::vector<CudaGraph> copies;
    for (cudaGraphNode_t const node : nodes_of(program)) {
        cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
        if (!good(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType")) return {};
        if (type == cudaGraphNodeTypeEmpty) continue;  // where the branch starts
        cudaGraph_t step = nullptr, copy = nullptr;
        if (!good(cudaGraphChildGraphNodeGetGraph(node, &step), "cudaGraphChildGraphNodeGetGraph")) return {};
        if (!good(cudaGraphClone(&copy, step), "cudaGraphClone")) return {};
        copies.emplace_back(copy);
    }
    return copies;
}

// The graphs one after the other.
CudaGraph chain_of(std::vector<cudaGraph_t> const& graphs) {
    CudaGraph chain = empty_graph();
    cudaGraphNode_t last = nullptr;
    for (cudaGraph_t const graph : graphs) {
        cudaGraphNode_t const before = last;
        cudaError_t const status =
            cudaGraphAddChildGraphNode(&last, chain.get(), &before, before == nullptr ? 0 : 1, graph);
        if (!good(status, "cudaGraphAddChildGraphNode")) return {};
    }
    return chain;
}

CudaGraph repeated(cudaGraph_t graph, int times) {
    return chain_of(std::vector<cudaGraph_t>(static_cast<std::size_t>(times), graph));
}

double median(std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

double now() {
    using namespace std::chrono;
    return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// Microseconds from one launch to the next; nothing where one fails.
std::optional<double> time_round(cudaGraphExec_t instance, cudaStream_t stream, int count) {
    double const begin = now();
    for (int i = 0; i < count; ++i) {
        if (!good(cudaGraphLaunch(instance, stream), "cudaGraphLaunch")) return {};
    }
    if (!good(cudaStreamSynchronize(stream), "waiting for CUDA graphs")) return {};
    return (now() - begin) / count;
}

// The time by the wall clock, when the GPU never waits for the CPU.
std::optional<double> time_launches(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t instance = nullptr;
    if (graph == nullptr || !good(cudaGraphInstantiate(&instance, graph, 0), "cudaGraphInstantiate")) return {};
    std::vector<double> times;
    int count = 2;
    for (int round = -1; round < kRounds; ++round) {
        auto const time = time_round(instance, stream, count);
        if (!time) break;
        if (round < 0) count = std::clamp(static_cast<int>(kMicrosecondsOfRound / *time), 2, 200);
        else times.push_back(*time);
    }
    good(cudaGraphExecDestroy(instance), "cudaGraphExecDestroy");
    if (times.size() < kRounds) return {};
    return median(std::move(times));
}

// The time of a step's kernels behind others: how much longer a chain takes with the step twice.
std::optional<double> time_step(cudaGraph_t step, cudaStream_t stream) {
    constexpr double kMicrosecondsOfChain = 300.0;
    auto const alone = time_launches(step, stream);
    if (!alone) return {};
    int const times = std::clamp(static_cast<int>(kMicrosecondsOfChain / *alone), 1, 16);
    auto const once = time_launches(repeated(step, times).get(), stream);
    auto const twice = time_launches(repeated(step, 2 * times).get(), stream);
    if (!once || !twice) return {};
    return (*twice - *once) / times;
}

std::size_t workspace_of(fe::graph::Graph const& graph) {
    std::int64_t bytes = 0;
    good(graph.get_workspace_size(bytes), "workspace");
    return static_cast<std::size_t>(bytes);
}

// A graph's plan, and microseconds of the CPU in calls of it.
struct Calls {
    fe::graph::Graph& graph;
    Memory const workspace{workspace_of(graph)};
    std::vector<double> times = {};
};

// They take turns, of some calls each, after which the GPU's queue is emptied.
bool time_calls(Gpu const& gpu, std::span<Calls* const> graphs, Pack const& pack) {
    constexpr int kTurns = 50, kCallsOfTurn = 10;
    constexpr double kLongest = 2e6;
    double const first = now();
    for (int turn = 0; turn < kTurns && (turn < 2 || now() - first < kLongest); ++turn) {
        for (Calls* const calls : graphs) {
            for (int i = 0; i < kCallsOfTurn; ++i) {
                double const begin = now();
                if (!good(calls->graph.execute(gpu.handle(), pack, calls->workspace.get()), "execute")) return false;
                calls->times.push_back(now() - begin);
            }
            if (!good(cudaStreamSynchronize(gpu.stream()), "waiting for calls")) return false;
        }
    }
    return true;
}

std::string plan_of(fe::graph::Graph const& graph) {
    std::string name;
    good(graph.get_plan_name(name), "name");
    return name;
}

CudaGraph captured(Gpu const& gpu, fe::graph::Graph& graph, Pack const& pack, void* workspace) {
    CudaGraph cuda_graph = empty_graph();
    if (!good(graph.populate_cuda_graph(gpu.handle(), pack, workspace, cuda_graph.get()), "capture")) return {};
    return cuda_graph;
}

// The graph that few_queries(1) makes of the row, on its own and in the same memory.
bool build_packed(Gpu const& gpu, Row row, fe::graph::Graph& graph) {
    row.s_q *= row.h_q / row.h_k;
    row.h_q = row.h_k;
    describe(row, graph);
    graph.set_rewrites(fe::RewritePolicy_t::OFF);
    return good(graph.build(gpu.target()), "packed");
}

// Compares the replay with the program's steps; false where it cannot be measured.
bool time_replay(Gpu const& gpu, cudaGraph_t program, Replay& replay) {
    std::vector<CudaGraph> const steps = copies_of_steps(program);
    std::vector<cudaGraph_t> in_order;
    for (CudaGraph const& step : steps) {
        auto const time = time_step(step.get(), gpu.stream());
        if (!time) return false;
        replay.kernels += nodes_of(step.get()).size();
        replay.sum_of_steps += *time;
        in_order.push_back(step.get());
    }
    replay.steps = steps.size();
    auto const whole = time_launches(program, gpu.stream());
    auto const chain = time_launches(chain_of(in_order).get(), gpu.stream());
    if (steps.empty() || !whole || !chain) return false;
    replay.time = *whole, replay.time_in_order = *chain;
    return true;
}

void print(Replay const& replay) {
    std::printf("%-30s %5zu %7zu %10.1f %10.1f %10.1f %10.2f %10.2f", replay.name, replay.steps, replay.kernels,
                replay.sum_of_steps, replay.time_in_order, replay.time, replay.call_of_given, replay.call);
    if (replay.call_of_part > 0.0) std::printf(" %10.2f", replay.call_of_part);
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

bool Replay::is_fast() const { return time <= kMostOfSteps * sum_of_steps; }
bool Replay::is_called_fast() const {
    return call <= static_cast<double>(steps) * call_of_given || call <= kMostOfPart * call_of_part;
}

void print_replay_heading() {
    std::printf("%-30s %5s %7s %10s %10s %10s %10s %10s %10s\n", "", "steps", "kernels", "steps' sum", "in order",
                "replay", "call given", "program", "its part");
}

std::optional<Replay> measure_replay(Gpu const& gpu, Row const& row, fe::graph::Graph& given,
                                     fe::graph::Graph& program) {
    Replay replay{.name = row.name};
    Buffers const buffers(row);
    Calls of_given{given}, of_program{program};
    CudaGraph const graph = captured(gpu, program, buffers.pack(), of_program.workspace.get());
    if (!graph || !time_replay(gpu, graph.get(), replay)) return {};
    std::vector<Calls*> calls{&of_given, &of_program};
    fe::graph::Graph packed;
    std::optional<Calls> of_part;
    bool const is_packed = row.rewrite == fe::Rewrite_t::FEW_QUERIES && replay.steps == 1;
    if (is_packed && build_packed(gpu, row, packed)) calls.push_back(&of_part.emplace(packed));
    if (!time_calls(gpu, calls, buffers.pack())) return {};
    replay.call_of_given = median(of_given.times), replay.call = median(of_program.times);
    if (of_part) replay.call_of_part = median(of_part->times), replay.part = plan_of(packed);
    print(replay);
    return replay;
}

void print_verdict(Replay const& replay) {
    std::printf("%-30s replay %.2f of its steps, at most %.2f: %s; call %.2f of a plain one, at most %zu", replay.name,
                replay.time / replay.sum_of_steps, kMostOfSteps, replay.is_fast() ? "fast" : "TOO SLOW",
                replay.call / replay.call_of_given, replay.steps);
    if (replay.call_of_part > 0.0) {
        std::printf(", or %.2f of its part's alone, %s, at most %.2f", replay.call / replay.call_of_part,
                    replay.part.c_str(), kMostOfPart);
    }
    std::printf(": %s\n", replay.is_called_fast() ? "fast" : "TOO SLOW");
}

}  // namespace bench
