// Candidates of several backends for one graph.
#include "unit/plan/toy_backend.h"

#include "api/backends.h"
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "core/text.h"
#include "lowering/has_cudnn.h"
#include "plan/planner.h"
#include "support/catch.h"
#include "support/small_graph.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

using namespace cudnn_frontend;
using plan::Planner;
using sdpa_test::ToyBackend;

namespace {

ToyBackend const kToy;

plan::Backends with_toy() {
    plan::Backends all = api::backends();
    all.push_back(&kToy);
    return all;
}

// A small graph, and the input of a planner.
struct Planned {
    test::SmallGraph small;
    Target target;
    plan::Settings settings;
    std::optional<nodes::ValidatedGraph> graph;

    explicit Planned(Target const& where, test::SmallGraph described) : small(std::move(described)), target(where) {
        REQUIRE(small.graph.validate().get_message() == "");
        graph = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(small.graph).spec).graph;
        REQUIRE(graph);
    }

    Result<std::shared_ptr<Planner>> propose(plan::Backends const& backends) const {
        return Planner::propose({*graph, target, settings}, backends);
    }
    std::shared_ptr<Planner> candidates(std::vector<HeurMode_t> const& modes) const {
        auto const proposed = propose(with_toy());
        REQUIRE(proposed.error().get_message() == "");
        auto planner = proposed.value()->with_candidates(modes);
        REQUIRE(planner.error().get_message() == "");
        return planner.value();
    }
};

test::SmallGraph half_graph() {
    test::SmallGraph small = test::small_graph();
    small.graph.set_io_data_type(DataType_t::BFLOAT16);
    return small;
}

std::vector<std::string> names_of(Planner const& planner) {
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < planner.candidate_count(); ++i) names.push_back(planner.candidate(i).value().name);
    return names;
}

std::vector<float> numbers(std::size_t count, float step) {
    std::vector<float> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(std::sin(step * static_cast<float>(i)));
    return values;
}

// O of the planner's plan.
std::vector<float> output_of(Planned const& planned, Planner const& planner) {
    std::vector<float> q = numbers(384, 0.3f), k = numbers(320, 0.7f), v = numbers(320, 1.1f), o(384, -9.0f);
    std::vector<double> workspace(static_cast<std::size_t>(planner.plan()->workspace_size()) / sizeof(double) + 2);
    std::map<std::int64_t, void*> const pack{{planned.small.q->get_uid(), q.data()},
                                             {planned.small.k->get_uid(), k.data()},
                                             {planned.small.v->get_uid(), v.data()},
                                             {planned.small.o->get_uid(), o.data()}};
    api::UserPack const source(Variant_pack::of(pack), 0);
    CHECK(planner.plan()->execute({nullptr, source, workspace.data()}).get_message() == "");
    return o;
}

}  // namespace

TEST_CASE("A toy backend is a candidate beside the CPU's, and gives the same numbers") {
    Planned const planned(Target::cpu(), test::small_graph());
    auto const planner = planned.candidates({HeurMode_t::A});
    CHECK(names_of(*planner) == std::vector<std::string>{"cpu", "toy"});

    REQUIRE(planner->build_at(0).get_message() == "");
    auto const of_cpu = output_of(planned, *planner);
    REQUIRE(planner->build_at(1).get_message() == "");
    CHECK(planner->plan()->info().name == "toy");
    auto const of_toy = output_of(planned, *planner);
    for (std::size_t i = 0; i < of_cpu.size(); ++i) REQUIRE(std::abs(of_cpu[i] - of_toy[i]) < 1e-5f);
    CHECK(std::abs(of_toy[0] - of_toy[100]) > 1e-3f);
}

TEST_CASE("What is checked of packs and workspaces is checked for every backend") {
    Planned const planned(Target::cpu(), test::small_graph());
    auto const planner = planned.candidates({HeurMode_t::A});
    REQUIRE(planner->build_at(1).get_message() == "");
    std::vector<float> q(384), o(384);
    std::map<std::int64_t, void*> const pack{{planned.small.q->get_uid(), q.data()},
                                             {planned.small.k->get_uid(), q.data()},
                                             {planned.small.v->get_uid(), q.data()},
                                             {planned.small.o->get_uid(), q.data()}};
    api::UserPack const source(Variant_pack::of(pack), 0);
    std::vector<double> workspace(10);
    CHECK(
        planner->plan()->execute({nullptr, source, nullptr}).get_message() ==
        "[run.r09]: found a workspace that is null; expected 80 bytes, as get_workspace_size() returns, at a multiple "
        "of 16 bytes.");
    CHECK(planner->plan()->execute({nullptr, source, workspace.data()}).get_message().find("\n[run.r08]") == 11);
    int recording = 0;
    CHECK(planner->plan()->capture({nullptr, source, workspace.data()}, &recording).get_message().find("\n[run.r08]") ==
          11);
}

TEST_CASE("Candidates are listed with what is against them") {
    Planned const planned(Target::cpu(), test::small_graph());
    CHECK(planned.propose(with_toy()).value()->candidates({}).to_text() == "candidates: none\n");
    auto const planner = planned.candidates({HeurMode_t::A});
    REQUIRE(planner->build_at(0).get_message() == "");
    REQUIRE(planner->build_at(1).get_message() == "");
    CHECK(planner->candidates({}).to_text() == "candidates:\n  cpu is built\n  toy runs\n");
    CHECK(planner->candidates({.barred_names = {"cpu"}}).to_text() ==
          "candidates:\n  cpu has the deselected name 'cpu'\n  toy runs\n");
}

TEST_CASE("Filters choose among the engines of all backends") {
    Planned const planned(Target::cpu(), test::small_graph());
    auto const planner = planned.candidates({HeurMode_t::A});
    REQUIRE(planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {.barred_names = {"cpu"}}).get_message() == "");
    CHECK(planner->plan()->info().name == "toy");
    CHECK(planner->check_support({.barred_names = {"cpu", "toy"}}).get_message() ==
          "the filters let no engine pass:\n  cpu has the deselected name 'cpu'\n  toy has the deselected name 'toy'");
    REQUIRE(planner->build(BuildPlanPolicy_t::ALL, true, {}).get_message() == "");
    CHECK(planner->built_plans().size() == 2);
    CHECK(planner->plan()->info().name == "cpu");
}

TEST_CASE("An engine for all shapes that a filter bars leaves the graph to its class") {
    struct ForAllShapes final : plan::Backend {
        char const* name() const override { return "toy"; }
        bool serves(Target const&) const override { return true; }
        Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
            return kToy.propose(input);
        }
        Result<std::shared_ptr<plan::Proposal const>> propose_for_all_shapes(
            plan::PlanningInput const& input) const override {
            return kToy.propose(input);
        }
    };
    ForAllShapes const backend;
    plan::Backends all = api::backends();
    all.push_back(&backend);
    Planned planned(Target::cpu(), half_graph());
    planned.settings.shape_policy = ShapePolicy_t::CLASSES;
    auto const first = [&] {
        return names_of(*planned.propose(all).value()->with_candidates({HeurMode_t::A}).value());
    };
    CHECK(first().front() == "toy");
    planned.settings.filters.barred_names = {"toy"};
    REQUIRE(!first().empty());
    CHECK(first().front() == "program classes: cpu");
}

TEST_CASE("Engines are numbered through all backends") {
    Planned const planned(Target::cpu(), test::small_graph());
    auto const proposed = planned.propose(with_toy());
    REQUIRE(proposed.error().get_message() == "");
    Planner const& planner = *proposed.value();
    CHECK(planner.engine_count().value() == 2);
    CHECK(names_of(*planner.with_engine(1, {}).value()) == std::vector<std::string>{"toy"});
    for (std::int64_t const number : {std::int64_t{-1}, std::int64_t{2}, std::numeric_limits<std::int64_t>::max()}) {
        std::string const text = core::text("there is no engine ", number, "; this target has the engines 0 to 1");
        CHECK(planner.with_engine(number, {}).error().get_message() == text);
        CHECK(planner.knobs_of_engine(number).error().get_message() == text);
    }
    for (std::int64_t const number : {0, 1}) {
        CHECK(planner.with_engine(number, {}).value()->number_of(0).value() == number);
    }
}

TEST_CASE("A backend that refuses a graph leaves it to the others; where all refuse, each says why") {
    Planned const planned(Target::cpu(), test::small_graph(graph::SDPA_attributes().set_causal_mask(true)));
    auto const planner = planned.candidates({HeurMode_t::A});
    CHECK(names_of(*planner) == std::vector<std::string>{"cpu"});
    CHECK(planner->candidates({}).to_text() ==
          "candidates:\n  cpu may be built\n  toy refused: the toy runs forward attention without options alone\n");
    CHECK(planner->check_support({.barred_names = {"cpu"}}).get_message() ==
          "the filters let no engine pass:\n  cpu has the deselected name 'cpu'\n  toy refused: the toy runs forward "
          "attention without options alone");
    CHECK(planned.propose({&kToy}).error().get_message() == "the toy runs forward attention without options alone");
    CHECK(planned.propose({}).error().get_message() == "this build of the library has no backend for the target cpu");
}

TEST_CASE("A backend refuses options that it does not know of") {
    Planned const scaled(Target::cpu(), test::small_graph(graph::SDPA_attributes().set_attn_scale(0.125f)));
    CHECK(names_of(*scaled.candidates({HeurMode_t::A})) == std::vector<std::string>{"cpu"});
}

TEST_CASE("A stored plan comes back from the backend that made it") {
    Planned const planned(Target::cpu(), test::small_graph());
    plan::PlanningInput const input{*planned.graph, planned.target, planned.settings};
    for (std::int64_t const engine : {0, 1}) {
        auto const planner = planned.candidates({HeurMode_t::A});
        REQUIRE(planner->build_at(engine).get_message() == "");
        auto const stored = planner->plan()->serialize();
        REQUIRE(stored.error().get_message() == "");
        auto const loaded = Planner::load(input, with_toy(), stored.value());
        REQUIRE(loaded.error().get_message() == "");
        CHECK(loaded.value()->plan()->info().name == planner->plan()->info().name);
        CHECK(output_of(planned, *loaded.value()) == output_of(planned, *planner));
    }
    CHECK(Planner::load(input, with_toy(), {"of another", ""}).error().get_message() ==
          "the stored plan is of the engine 'of another', which CPU does not have\ntoy: the stored plan is of the "
          "engine 'of another', which toy does not have");
}

TEST_CASE("A stored plan goes to no backend that never had its engine") {
    if (!sdpa_test::has_cudnn()) return;
    Planned const planned(Target::offline("h200"), half_graph());
    plan::PlanningInput const input{*planned.graph, planned.target, planned.settings};
    plan::Backends const all = api::backends();
    plan::Backends kernels;
    std::ranges::copy_if(all, std::back_inserter(kernels),
                         [](plan::Backend const* backend) { return backend->name() == std::string("kernels"); });
    REQUIRE(kernels.size() == 1);
    CHECK(Planner::load(input, kernels, {"eng1", ""}).error().get_message() ==
          "the stored plan is of the engine 'eng1', which no backend has for such a graph on the target offline");
}

TEST_CASE("A toy backend is a candidate beside cuDNN's, and OPENSOURCE asks for it alone") {
    if (!sdpa_test::has_cudnn()) return;
    Planned const planned(Target::offline("a100"), half_graph());
    auto const names = names_of(*planned.candidates({HeurMode_t::A}));
    REQUIRE(names.size() >= 2);
    CHECK(names.front().find("eng") == 0);
    CHECK(names.back() == "toy");
    auto const others = planned.candidates({HeurMode_t::OPENSOURCE});
    CHECK(names_of(*others) == std::vector<std::string>{"toy"});
    CHECK(others->candidates({}).to_text().find("\n  cuDNN refused: HeurMode_t::OPENSOURCE asks for") !=
          std::string::npos);
    REQUIRE(others->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}).get_message() == "");
    auto const alone = planned.propose(api::backends()).value()->with_candidates({HeurMode_t::OPENSOURCE});
    CHECK(
        alone.error().get_message() ==
        "HeurMode_t::OPENSOURCE asks for engines that are not cuDNN's, and nothing else has one for this graph on this "
        "target; add HeurMode_t::A\nkernels: the engine 'attention' cannot run this graph:\n  [kernels.c03] node "
        "'attention': found compute capability 8.0; expected 9.0. Try: a GPU of the Hopper generation, or engines of "
        "other backends.");
}
