// A plan as a CUDA graph: populated once, launched often, updated to other memory without a new build.
//   ./run sample 11_cuda_graph    needs a GPU
#include <chrono>

#include "gpu_problem.h"

namespace fe = cudnn_frontend;

namespace {

// CPU time of a call in microseconds, averaged over many.
template <class Call>
double cost_of(samples::Gpu const& gpu, Call const& call) {
    constexpr int kRounds = 50, kCalls = 20;
    double total = 0.0;
    for (int round = 0; round < kRounds; ++round) {
        auto const start = std::chrono::steady_clock::now();
        for (int n = 0; n < kCalls; ++n) call();
        total += std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
        gpu.wait();  // so that the queue never fills
    }
    return total / (kRounds * kCalls);
}

}  // namespace

int main() {
    samples::Gpu const gpu;
    samples::GpuProblem first(1), second(11);
    fe::graph::Graph graph;
    samples::GpuProblem::describe(graph);
    samples::require(graph.build(fe::Target::cuda(gpu.handle())));
    samples::GpuArray<char> const workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    samples::Checks checks;
    double const limit = samples::GpuProblem::limit();
    std::printf("11_cuda_graph\n");

    // The plan's kernels become nodes of an empty CUDA graph.
    cudaGraph_t nodes = nullptr;
    cudaGraphExec_t executable = nullptr;
    samples::require(cudaGraphCreate(&nodes, 0));
    samples::require(graph.populate_cuda_graph(gpu.handle(), first.pack(), workspace.data(), nodes));
    samples::require(cudaGraphInstantiate(&executable, nodes, 0));
    samples::require(cudaGraphLaunch(executable, gpu.stream()));
    gpu.wait();
    checks.compare("O of the launch", first.take_result(), first.expected(), limit);

    // For other memory, update the nodes and then the executable from them.
    samples::require(graph.update_cuda_graph(gpu.handle(), second.pack(), workspace.data(), nodes));
    cudaGraphExecUpdateResultInfo outcome{};
    samples::require(cudaGraphExecUpdate(executable, nodes, &outcome));
    samples::require(cudaGraphLaunch(executable, gpu.stream()));
    gpu.wait();
    checks.compare("O after the update", second.take_result(), second.expected(), limit);

    // Stream capture works too, together with other work of the stream.
    cudaGraph_t captured = nullptr;
    samples::require(cudaStreamBeginCapture(gpu.stream(), cudaStreamCaptureModeThreadLocal));
    samples::require(graph.execute(gpu.handle(), first.pack(), workspace.data()));
    samples::require(cudaStreamEndCapture(gpu.stream(), &captured));
    cudaGraphExec_t replay = nullptr;
    samples::require(cudaGraphInstantiate(&replay, captured, 0));
    samples::require(cudaGraphLaunch(replay, gpu.stream()));
    gpu.wait();
    checks.compare("O of the capture", first.take_result(), first.expected(), limit);

    auto const pack = first.pack();
    std::printf("  CPU time of execute() %.1f us, of a graph launch %.1f us\n",
                cost_of(gpu, [&] { samples::require(graph.execute(gpu.handle(), pack, workspace.data())); }),
                cost_of(gpu, [&] { samples::require(cudaGraphLaunch(replay, gpu.stream())); }));
    for (cudaGraphExec_t const each : {executable, replay}) samples::require(cudaGraphExecDestroy(each));
    for (cudaGraph_t const each : {nodes, captured}) samples::require(cudaGraphDestroy(each));
    return checks.exit_code();
}
