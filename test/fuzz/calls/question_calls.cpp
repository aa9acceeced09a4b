// Calls of const members, on graphs in any state.
#include "fuzz/calls/machine.h"

#include <cudnn_frontend/explanation.h>
#include <sdpa_graph/plan_store.h>

#include <map>

namespace fuzz {
namespace {

using cudnn_frontend::BehaviorNote_t;
using cudnn_frontend::graph::OperationsFormat;
using cudnn_frontend::graph::PictureFormat;

Graph& graph_of(Machine& m, Numbers const& n) { return *n.in(m.graphs, 0); }

void print(Machine& m, Numbers const& n) {
    Graph& graph = graph_of(m, n);
    std::string operations;
    m.note(graph.print_operations(operations, n.flag(1) ? OperationsFormat::DOT : OperationsFormat::TEXT));
    m.expect(graph.print() == graph.print(), "a graph prints the same again");
    m.expect(graph.key() == graph.key(), "a graph has one key");
    m.expect(graph.check().to_json().size() >= 2, "a report is a JSON array");
    m.expect(graph.advice().to_text() == graph.advice().to_text(), "a graph has one advice");
    m.note(graph.prepare_variant_pack_template());
}

void ask_plans(Machine& m, Numbers const& n) {
    Graph const& graph = graph_of(m, n);
    std::string name;
    std::int64_t engine = 0, bytes = 0;
    std::map<cudnn_frontend::KnobType_t, std::int64_t> knobs;
    std::vector<BehaviorNote_t> notes;
    bool is_deterministic = false;
    m.expect(graph.get_execution_plan_count() >= 0, "plans are counted from 0");
    m.note(graph.get_plan_name(name));
    m.note(graph.draw_plan(name, n.flag(1) ? PictureFormat::DOT : PictureFormat::SVG));
    m.note(graph.get_plan_name_at_index(n[1], name));
    m.note(graph.print_candidates(name));
    cudnn_frontend::Plan_candidates candidates;
    m.note(graph.get_candidates(candidates));
    cudnn_frontend::Explanation const explanation = graph.explain(cudnn_frontend::Target::cpu(), n.flag(1) ? 1 : 0);
    m.expect(explanation.to_json().size() >= 2 && !explanation.to_html().empty(), "an explanation has texts");
    m.note(graph.get_engine_and_knobs_at_index(n[1], engine, knobs));
    m.note(graph.get_behavior_notes(notes));
    m.note(graph.get_behavior_notes_for_plan_at_index(n[1], notes));
    m.note(graph.get_is_deterministic(is_deterministic));
    m.note(graph.get_workspace_size(bytes));
    m.note(graph.get_workspace_size_plan_at_index(n[1], bytes));
    std::vector<sdpa_graph::Stored_times> times;
    m.note(sdpa_graph::find_stored_times("", graph, times));
    m.expect(graph.get_workspace_size() >= 0 && graph.get_autotune_workspace_size() >= 0, "a size is no less than 0");
}

void ask_engines(Machine& m, Numbers const& n) {
    std::int64_t count = 0;
    std::vector<cudnn_frontend::Knob> knobs;
    m.note(graph_of(m, n).get_engine_count(count));
    m.note(graph_of(m, n).get_knobs_for_engine(n[1], knobs));
}

void ask_tensors(Machine& m, Numbers const& n) {
    Graph const& graph = graph_of(m, n);
    Tensor_attributes tensor;
    m.note(graph.query_tensor_attributes_of_uid(n[1], tensor));
    std::vector<std::int64_t> const uids = graph.get_variant_pack_uids_sorted();
    for (std::size_t i = 1; i < uids.size(); ++i) m.expect(uids[i - 1] < uids[i], "uids of a pack ascend");
}

constexpr Call kCalls[] = {
    {"question.print", print},
    {"question.plans", ask_plans},
    {"question.engines", ask_engines},
    {"question.tensors", ask_tensors},
};

}  // namespace

std::span<Call const> question_calls() { return kCalls; }

}  // namespace fuzz
