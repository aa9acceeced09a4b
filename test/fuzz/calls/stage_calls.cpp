// The stages of building, in any order, and stored graphs and plans.
#include "fuzz/calls/machine.h"

namespace fuzz {
namespace {

using cudnn_frontend::BuildPlanPolicy_t;
using cudnn_frontend::HeurMode_t;

Graph& graph_of(Machine& m, Numbers const& n) { return *n.in(m.graphs, 0); }

Target target_of(Numbers const& n) { return n.flag(1) ? Target::reference() : Target::cpu(n.flag(2) ? 2 : 1); }

void validate(Machine& m, Numbers const& n) {
    Graph& graph = graph_of(m, n);
    bool const is_sound = graph.check().ok();
    error_t const error = graph.validate();
    m.note(error);
    m.expect(is_sound == error.is_good(), "check() and validate() agree");
    m.expect(graph.validate().is_good() == error.is_good(), "validate() says the same again");
}

void build(Machine& m, Numbers const& n) {
    error_t const error = graph_of(m, n).build(target_of(n));
    m.note(error);
    m.was_built |= error.is_good();
    m.expect(error.is_bad() || graph_of(m, n).check().ok(), "what is built is valid");
}

void lower(Machine& m, Numbers const& n) { m.note(graph_of(m, n).build_operation_graph(target_of(n))); }
void create_plans(Machine& m, Numbers const& n) {
    std::vector<HeurMode_t> const modes(static_cast<std::size_t>(n[1] & 3), n.as<HeurMode_t>(2, 5));
    m.note(graph_of(m, n).create_execution_plans(modes));
}
void check_support(Machine& m, Numbers const& n) { m.note(graph_of(m, n).check_support()); }
void build_plans(Machine& m, Numbers const& n) {
    m.note(graph_of(m, n).build_plans(n.as<BuildPlanPolicy_t>(1, 3), n.flag(2)));
}
void build_at(Machine& m, Numbers const& n) { m.note(graph_of(m, n).build_plan_at_index(n[1])); }
void create_plan(Machine& m, Numbers const& n) {
    m.note(graph_of(m, n).create_execution_plan(n[1], {{n.as<cudnn_frontend::KnobType_t>(2, 40), n[3]}}));
}

void write_document(Machine& m, Numbers const& n) {
    std::string& text = n.in(m.documents, 1);
    m.note(graph_of(m, n).serialize(text));
}
void read_document(Machine& m, Numbers const& n) { m.note(graph_of(m, n).deserialize(n.in(m.documents, 1))); }
void store(Machine& m, Numbers const& n) { m.note(graph_of(m, n).serialize(n.in(m.plans, 1))); }
void load(Machine& m, Numbers const& n) {
    std::string before, after;
    Graph& graph = graph_of(m, n);
    bool const was_written = graph.serialize(before).is_good();
    error_t const error = graph.deserialize(nullptr, n.in(m.plans, 1));
    m.note(error);
    bool const is_written = graph.serialize(after).is_good();
    m.expect(error.is_good() || (was_written == is_written && before == after),
             "a graph stays what it is where loading fails");
}
void corrupt(Machine& m, Numbers const& n) {
    auto& plan = n.in(m.plans, 0);
    if (plan.empty()) return;
    if (n.flag(1)) plan.resize(static_cast<std::uint64_t>(n[2]) % plan.size());
    else n.in(plan, 2) = static_cast<std::uint8_t>(n[3]);
}

constexpr Call kCalls[] = {
    {"stage.validate", validate},
    {"stage.build", build},
    {"stage.lower", lower},
    {"stage.create_plans", create_plans},
    {"stage.check_support", check_support},
    {"stage.build_plans", build_plans},
    {"stage.build_at", build_at},
    {"stage.create_plan", create_plan},
    {"stage.write_document", write_document},
    {"stage.read_document", read_document},
    {"stage.store", store},
    {"stage.load", load},
    {"stage.corrupt", corrupt},
};

}  // namespace

std::span<Call const> stage_calls() { return kCalls; }

}  // namespace fuzz
