// Autotuning: all candidates of cuDNN are built, timed on the real memory, and the fastest is kept.
//   ./run sample 10_autotune    needs a GPU
#include "gpu_problem.h"

namespace fe = cudnn_frontend;

int main() {
    samples::Gpu const gpu;
    samples::GpuProblem problem(1);
    fe::graph::Graph graph;
    samples::GpuProblem::describe(graph);

    // Builds every candidate of the three heuristic modes; several threads compile at once.
    samples::require(graph.build(gpu.handle(), {fe::HeurMode_t::A, fe::HeurMode_t::B, fe::HeurMode_t::FALLBACK},
                                 fe::BuildPlanPolicy_t::ALL, true));
    std::string chosen, fastest;
    samples::require(graph.get_plan_name(chosen));
    std::printf("10_autotune: cuDNN offers %d plans\n\n", int(graph.get_execution_plan_count()));

    // It is large enough for each plan.
    samples::GpuArray<char> const workspace(static_cast<std::size_t>(graph.get_autotune_workspace_size()));
    samples::Checks checks;
    for (std::int64_t n = 0; n < graph.get_execution_plan_count(); ++n) {
        std::string name;
        samples::require(graph.get_plan_name_at_index(n, name));
        std::printf("  %-60s workspace %lld\n", name.c_str(),
                    static_cast<long long>(graph.get_workspace_size_plan_at_index(n)));
        samples::require(graph.execute_plan_at_index(gpu.handle(), problem.pack(), workspace.data(), n));
        gpu.wait();
        checks.compare("O", problem.take_result(), problem.expected(), samples::GpuProblem::limit());
    }

    samples::require(graph.autotune(gpu.handle(), problem.pack(), workspace.data()));
    gpu.wait();
    problem.take_result();
    samples::require(graph.get_plan_name(fastest));
    std::printf("\n  the heuristics' choice  %s\n  the fastest here        %s\n\n", chosen.c_str(), fastest.c_str());
    samples::require(graph.execute(gpu.handle(), problem.pack(), workspace.data()));
    gpu.wait();
    checks.compare("O of the fastest", problem.take_result(), problem.expected(), samples::GpuProblem::limit());
    return checks.exit_code();
}
