// The build in stages, with filters of engines, for programs with a memory budget.
//   ./run sample 13_staged_filters    needs a GPU
#include "gpu_problem.h"

namespace fe = cudnn_frontend;

namespace {

std::vector<fe::BehaviorNote_t> notes_of(fe::graph::Graph const& graph, std::int64_t index) {
    std::vector<fe::BehaviorNote_t> notes;
    samples::require(graph.get_behavior_notes_for_plan_at_index(index, notes));
    return notes;
}

void print_candidates(fe::graph::Graph const& graph) {
    for (std::int64_t n = 0; n < graph.get_execution_plan_count(); ++n) {
        std::string name;
        samples::require(graph.get_plan_name_at_index(n, name));
        std::printf("  %d  %s\n", int(n), name.c_str());
        for (fe::BehaviorNote_t const note : notes_of(graph, n)) std::printf("       %s\n", fe::to_string(note));
    }
}

}  // namespace

int main() {
    samples::Gpu const gpu;
    samples::GpuProblem problem(1);
    std::printf("13_staged_filters\n\n");

    fe::graph::Graph graph;
    samples::GpuProblem::describe(graph);
    samples::require(graph.validate());
    samples::require(graph.build_operation_graph(gpu.handle()));
    samples::require(graph.create_execution_plans({fe::HeurMode_t::A, fe::HeurMode_t::FALLBACK}));
    print_candidates(graph);

    // A copy shares the candidates and has its own filters.
    samples::Checks checks;
    fe::graph::Graph frugal(graph), starved(graph), choosy(graph);
    frugal.deselect_workspace_greater_than(0);
    samples::require(frugal.check_support());
    samples::require(frugal.build_plans());
    checks.expect("a plan within the budget of no workspace at all", frugal.get_workspace_size() == 0);

    starved.deselect_shared_mem_greater_than(1024);
    fe::error_t const refusal = starved.check_support();
    std::printf("\n%s\n\n", refusal.get_message().c_str());
    checks.expect("a budget that is too small for all engines is an error with reasons", refusal.is_bad());

    std::string first, other;
    samples::require(graph.get_plan_name_at_index(0, first));
    choosy.deselect_engines({first});
    bool const has_other = graph.get_execution_plan_count() > 1;
    if (has_other) {
        samples::require(choosy.build_plans());
        samples::require(choosy.get_plan_name(other));
    }
    checks.expect("without the first engine another one serves", !has_other || other != first);

    for (fe::graph::Graph* const each : {&frugal, &choosy}) {
        if (each == &choosy && !has_other) continue;
        samples::GpuArray<char> const workspace(static_cast<std::size_t>(each->get_workspace_size()));
        samples::require(each->execute(gpu.handle(), problem.pack(), workspace.data()));
        gpu.wait();
        checks.compare("O", problem.take_result(), problem.expected(), samples::GpuProblem::limit());
    }
    return checks.exit_code();
}
