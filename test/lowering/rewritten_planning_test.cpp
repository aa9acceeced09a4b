// cuDNN's engines accept the parts of rewritten graphs, with no GPU.
#include "gpu/cases/rewritten_gpu_case.h"
#include "lowering/case_graphs.h"
#include "reference/cases/rewrite_case.h"

#include "support/catch.h"

using namespace sdpa_test;

namespace {

// The first candidate's name, or the reason why there is none.
std::string first_plan(Graph& graph) {
    std::string name;
    cudnn_frontend::error_object error = graph.build_operation_graph(Target::offline("h200"));
    if (error.is_good()) error = graph.create_execution_plans({cudnn_frontend::HeurMode_t::A});
    if (error.is_good()) error = graph.check_support();
    if (error.is_good()) error = graph.get_plan_name_at_index(0, name);
    return error.is_good() ? name : error.get_message();
}

std::vector<bool> passes_of(Rewriting const& rewriting) {
    if (std::holds_alternative<cudnn_frontend::ShapePolicy_t>(rewriting)) return {false, true};
    bool const is_forward = rewriting == Rewriting(cudnn_frontend::Rewrite_t::FEW_QUERIES);
    return {!is_forward};
}

}  // namespace

TEST_CASE("random graphs to which a rewrite applies are planned as programs for an H200", "[offline]") {
    if (!has_cudnn()) return;
    for (CaseGroup const& group : rewritten_gpu_groups({0, 60})) {
        for (AttentionCase const& c : group.cases) {
            Graphs graphs(c);
            INFO(group.name << ": " << describe(c));
            for (bool const is_backward : passes_of(*group.rewriting)) {
                Graph& graph = (is_backward ? graphs.backward : graphs.forward).graph();
                ask_for(*group.rewriting, c, graph);
                std::string const name = first_plan(graph);
                INFO(name);
                CHECK(name.starts_with("program "));
            }
        }
    }
}
