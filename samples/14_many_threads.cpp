// One built graph, run by many threads at once: each has its own handle, stream, memory and workspace.
//   ./run sample 14_many_threads    needs a GPU
#include <atomic>
#include <memory>
#include <thread>

#include "gpu_problem.h"

namespace fe = cudnn_frontend;

namespace {

constexpr int kThreads = 8, kRuns = 50;

// A thread's own objects. The graph is shared and const.
class Worker {
   public:
    Worker(fe::graph::Graph const& graph, unsigned seed)
        : graph_(graph), problem_(seed), workspace_(static_cast<std::size_t>(graph.get_workspace_size())) {}

    void run() {
        for (int n = 0; n < kRuns; ++n) {
            if (graph_.execute(gpu_.handle(), problem_.pack(), workspace_.data()).is_bad()) ++failures_;
        }
        gpu_.wait();
        error_ = samples::worst_error(problem_.take_result(), problem_.expected());
    }
    int failures() const { return failures_; }
    double error() const { return error_; }

   private:
    fe::graph::Graph const& graph_;
    samples::Gpu gpu_;
    samples::GpuProblem problem_;
    samples::GpuArray<char> workspace_;
    int failures_ = 0;
    double error_ = samples::kInfinity;
};

}  // namespace

int main() {
    samples::Gpu const gpu;
    fe::graph::Graph graph;
    samples::GpuProblem::describe(graph);
    samples::require(graph.build(fe::Target::cuda(gpu.handle())));
    std::printf("14_many_threads: %d threads run one plan %d times each\n", kThreads, kRuns);

    std::vector<std::unique_ptr<Worker>> workers;
    for (int n = 0; n < kThreads; ++n) workers.push_back(std::make_unique<Worker>(graph, unsigned(100 * n)));
    std::vector<std::thread> threads;
    for (auto const& worker : workers) threads.emplace_back([&worker] { worker->run(); });
    for (std::thread& thread : threads) thread.join();

    int failures = 0;
    double worst = 0.0;
    for (auto const& worker : workers) {
        failures += worker->failures();
        worst = std::fmax(worst, worker->error());
    }
    samples::Checks checks;
    checks.expect("every run of every thread succeeds", failures == 0);
    checks.compare("worst O of all threads", {1.0 + worst}, {1.0}, samples::GpuProblem::limit());
    return checks.exit_code();
}
