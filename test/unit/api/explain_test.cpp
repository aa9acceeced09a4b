// Graph::explain() and Graph::get_candidates() on the CPU targets.
#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/graph.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <string>
#include <unordered_map>

using namespace cudnn_frontend;
using graph::SDPA_attributes;
using test::small_graph;

namespace {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

SDPA_attributes dropout_without_generator() {
    return SDPA_attributes().set_name("attention").set_dropout(0.1f, nullptr, nullptr);
}

}  // namespace

TEST_CASE("A graph that has a plan is explained with its candidates") {
    auto const small = small_graph(SDPA_attributes().set_attn_scale(0.35f));
    Explanation const explanation = small.graph.explain(Target::cpu());
    CHECK(explanation.has_plan());
    CHECK(explanation.target == "cpu");
    CHECK(explanation.findings.ok());
    CHECK(explanation.plan == "cpu");
    REQUIRE(explanation.candidates.candidates.size() == 1);
    Plan_candidate const& candidate = explanation.candidates.candidates.front();
    CHECK(candidate.backend == "CPU");
    CHECK(candidate.name == "cpu");
    CHECK(candidate.state == CandidateState::RUNS);
    CHECK(candidate.origin == PlanOrigin::KNOWN);
    CHECK(!explanation.was_searched);
    CHECK(has(explanation.to_text(), "rules: all hold\ncandidates\n  cpu  runs\nyes: the graph runs on cpu with cpu"));
    CHECK(has(explanation.to_json(), "\"plan\": {"));
    CHECK(small.graph.explain(Target::reference()).plan == "reference");
}

TEST_CASE("Explaining changes neither the graph nor its tensors") {
    auto const small = small_graph();
    REQUIRE(small.graph.explain(Target::cpu()).has_plan());
    CHECK(small.o->get_dim().empty());
    std::string name;
    CHECK(small.graph.get_plan_name(name).is_bad());
}

TEST_CASE("All broken rules and the nearest graph that works are found") {
    auto const small = small_graph(dropout_without_generator());
    small.k->set_dim({2, 3, 10, 8}).set_stride({240, 80, 8, 1});
    Explanation const explanation = small.graph.explain(Target::cpu(), 5000);
    CHECK(!explanation.has_plan());
    CHECK(explanation.findings.findings().size() == 2);
    CHECK(explanation.refusal.code == explanation.findings.findings().front().code);
    REQUIRE(!explanation.nearest.empty());
    Nearest_graph const& nearest = explanation.nearest.front();
    CHECK(nearest.changes.size() == 2);
    CHECK(nearest.target == "cpu");
    graph::Graph other;
    REQUIRE(other.deserialize(nearest.graph).get_message() == "");
    CHECK(other.build(Target::cpu()).get_message() == "");
    std::string const text = explanation.to_text();
    CHECK(has(text, "broken rules: 2\n"));
    CHECK(has(text, "the nearest graphs that work:\n  1. "));
    CHECK(has(explanation.to_html(), "<th style=\"text-align:left\">rule</th>"));
    CHECK(has(explanation.to_json(), "\"nearest\": ["));
}

TEST_CASE("The error of a build has the cheapest fix of all faults together, that of a stage has none") {
    auto small = small_graph(dropout_without_generator());
    small.k->set_dim({2, 3, 10, 8}).set_stride({240, 80, 8, 1});
    std::string const refusal = small.graph.build(Target::cpu()).get_message();
    std::string const fix = refusal.substr(refusal.rfind("\nTry: ") + 1);
    CHECK(has(fix, "give K and V as many heads as Q, 4"));
    CHECK(has(fix, "pass seed and offset"));
    CHECK(has(fix, "; "));
    CHECK(has(fix, ". Then all rules and limits hold."));
    CHECK(!has(small.graph.validate().get_message(), "Then all rules"));
    CHECK(!has(small.graph.explain(Target::cpu()).refusal.get_message(), "Then all rules"));
}

TEST_CASE("The fix is searched in a number of graphs, fewer of many nodes, and not for a time") {
    for (int const scales : {0, 3, 50}) {
        auto small = small_graph(dropout_without_generator());
        auto scaled = small.o;
        for (int i = 0; i < scales; ++i) {
            auto const factor =
                small.graph.tensor(graph::Tensor_attributes().set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1}));
            scaled =
                small.graph.pointwise(scaled, factor, graph::Pointwise_attributes().set_mode(PointwiseMode_t::MUL));
        }
        scaled->set_output(true);
        std::string const refusal = small.graph.build(Target::cpu()).get_message();
        INFO(scales << " scales: " << refusal);
        CHECK(has(refusal, "[sdpa_fwd.c"));
        CHECK(has(refusal, "Then all rules and limits hold.") == (scales < 50));
    }
}

TEST_CASE("Without a search there are no other graphs") {
    auto const small = small_graph(dropout_without_generator());
    Explanation const explanation = small.graph.explain(Target::cpu());
    CHECK(explanation.nearest.empty());
    CHECK(!has(explanation.to_text(), "nearest"));
}

TEST_CASE("Filters count, and the CPU is tried where they bar every engine") {
    auto small = small_graph();
    small.graph.deselect_engines({"reference"});
    Explanation const explanation = small.graph.explain(Target::reference(), 2000);
    CHECK(!explanation.has_plan());
    REQUIRE(explanation.candidates.candidates.size() == 1);
    CHECK(explanation.candidates.candidates.front().state == CandidateState::NOT_USABLE);
    CHECK(explanation.candidates.candidates.front().reason == "has the deselected name 'reference'");
    REQUIRE(!explanation.nearest.empty());
    CHECK(explanation.nearest.back().changes.back() == "run it on the CPU, Target::cpu()");
}

TEST_CASE("Names are escaped in HTML") {
    auto small = small_graph();
    small.graph.set_name("<b>&\"graph\"");
    std::string const html = small.graph.explain(Target::cpu()).to_html();
    CHECK(has(html, "&lt;b&gt;&amp;&quot;graph&quot;"));
    CHECK(!has(html, "<b>"));
}

TEST_CASE("A graph that was moved from and an empty graph are explained as errors") {
    auto small = small_graph();
    graph::Graph const taken = std::move(small.graph);
    CHECK(!small.graph.explain(Target::cpu(), 10).has_plan());
    CHECK(!graph::Graph().explain(Target::cpu(), 10).has_plan());
    CHECK(taken.explain(Target::cpu()).has_plan());
}

TEST_CASE("Candidates as values have the times that autotune measured") {
    auto small = small_graph();
    Plan_candidates candidates;
    CHECK(small.graph.get_candidates(candidates).err_msg ==
          "get_candidates needs the result of create_execution_plans; call that first, or build() for all stages");
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    REQUIRE(small.graph.get_candidates(candidates).is_good());
    CHECK(candidates.candidates.front().measured_us == 0.0);
    std::vector<float> q(384), k(320), v(320), o(384);
    std::unordered_map<test::Tensor_ptr, void*> const pack = {
        {small.q, q.data()}, {small.k, k.data()}, {small.v, v.data()}, {small.o, o.data()}};
    auto workspace = test::workspace_of(small.graph);
    REQUIRE(small.graph.autotune(nullptr, pack, workspace.data()).get_message() == "");
    REQUIRE(small.graph.get_candidates(candidates).is_good());
    CHECK(candidates.candidates.front().measured_us > 0.0);
    std::string text;
    REQUIRE(small.graph.print_candidates(text).is_good());
    CHECK(text == candidates.to_text());
}

TEST_CASE("Enumerators have texts") {
    CHECK(std::string(to_string(CandidateState::REFUSED)) == "refused");
    CHECK(std::string(to_string(PlanOrigin::STORED)) == "stored");
    CHECK(std::string(to_string(static_cast<CandidateState>(99))) == "?");
    CHECK(std::string(to_string(static_cast<PlanOrigin>(-1))) == "?");
}
