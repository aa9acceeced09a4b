// Programs of a backend whose engines and joints fail on request.
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "cpu/cpu_backend.h"
#include "plan/planner.h"
#include "plan/programs/program_engine.h"
#include "rewrite/offers.h"
#include "support/catch.h"
#include "support/program_graphs.h"

using namespace cudnn_frontend;
using Error = cudnn_frontend::error_t;
using plan::Planner;

namespace {

Error fault(char const* text) { return {error_code_t::GRAPH_EXECUTION_FAILED, text}; }

// An executable of the CPU's that does not launch.
class Jammed final : public plan::Executable {
   public:
    explicit Jammed(std::shared_ptr<plan::Executable const> executable) : executable_(std::move(executable)) {}

    std::int64_t workspace_size() const override { return executable_->workspace_size(); }
    Error launch(plan::Launch const&) const override { return fault("the printer is on fire"); }
    Result<std::string> serialize() const override { return executable_->serialize(); }

   private:
    std::shared_ptr<plan::Executable const> executable_;
};

class Unbuilt final : public plan::Engine {
   public:
    plan::EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<plan::Executable const>> build() override { return fault("out of toner"); }

   private:
    plan::EngineInfo info_ = {.name = "unbuilt"};
};

// The CPU's, with faults.
class FaultyBackend final : public plan::Backend {
   public:
    bool has_unbuilt_engine = false, has_no_other = false;  // for parts: before the CPU's, and in its place
    bool joins_fail = false, joints_jam = false;

    char const* name() const override { return "faulty"; }
    bool serves(Target const&) const override { return true; }
    bool joins(Target const&) const override { return true; }

    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
        auto proposal = cpu::backend().propose(input);
        bool const is_part = !input.settings.rewrites.listed;
        if (proposal.is_bad() || !is_part || !has_unbuilt_engine) return proposal;
        plan::Engines engines = {std::make_shared<Unbuilt>()};
        if (!has_no_other) engines.push_back(proposal.value()->engines({HeurMode_t::A}).value().front());
        auto const layout = std::make_shared<plan::PackLayout const>(proposal.value()->layout());
        return std::make_shared<plan::Proposal const>(layout, std::move(engines));
    }
    Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, Target const& target,
                                                         plan::Settings const& settings,
                                                         std::optional<std::string_view> stored) const override {
        if (joins_fail) return fault("out of glue");
        auto joined = cpu::backend().join(joint, target, settings, stored);
        if (joined.is_bad() || !joints_jam) return joined;
        return std::shared_ptr<plan::Executable const>(std::make_shared<Jammed>(joined.value()));
    }
};

// A graph that few_queries(2) rewrites, planned by the backend.
struct Planned {
    FaultyBackend backend;
    plan::Backends backends = {&backend};
    test::ProgramGraph all = test::few_queries_graph();
    Target target = Target::cpu();
    plan::Settings settings;
    std::optional<nodes::ValidatedGraph> graph;

    Planned() {
        REQUIRE(all.graph.validate().get_message() == "");
        graph = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(all.graph).spec).graph;
        REQUIRE(graph);
        settings.rewrites.listed = {Rewrite_t::FEW_QUERIES};
    }

    plan::PlanningInput input() const { return {*graph, target, settings}; }
    std::shared_ptr<Planner> candidates() const {
        auto const proposed = Planner::propose(input(), backends);
        REQUIRE(proposed.error().get_message() == "");
        return proposed.value()->with_candidates({HeurMode_t::A}).value();
    }
    Error run(Planner const& planner) {
        auto const pack = all.pack();
        std::vector<double> workspace(static_cast<std::size_t>(planner.plan()->workspace_size()) / sizeof(double) + 2);
        return planner.plan()->execute({nullptr, api::UserPack(Variant_pack::of(pack), 0), workspace.data()});
    }
};

}  // namespace

TEST_CASE("a program whose part does not build leaves the graph to the next candidate, and says which step it was") {
    Planned planned;
    planned.backend.has_unbuilt_engine = planned.backend.has_no_other = true;
    auto const planner = planned.candidates();
    CHECK(planner->candidate(0).value().name == "program few_queries(2): unbuilt");
    CHECK(planner->build_at(0).get_message() ==
          "step 1 of 2 of few_queries(2), attention, cannot be built: no candidate could be built:\n  unbuilt out of "
          "toner");
    REQUIRE(planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}).get_message() == "");
    CHECK(planner->plan()->info().name == "cpu");
    CHECK(planned.run(*planner).get_message() == "");
}

TEST_CASE("a part whose first engine does not build gets the next one, which the program then names") {
    Planned planned;
    planned.backend.has_unbuilt_engine = true;
    auto const planner = planned.candidates();
    CHECK(planner->candidate(0).value().name == "program few_queries(2): unbuilt");
    REQUIRE(planner->build_at(0).get_message() == "");
    CHECK(planner->plan()->info().name == "program few_queries(2): cpu");
    CHECK(planner->candidate(0).value().name == "program few_queries(2): cpu");
    CHECK(planned.run(*planner).get_message() == "");
}

TEST_CASE("a joint that cannot be made is told with its step") {
    Planned planned;
    planned.backend.joins_fail = true;
    CHECK(planned.candidates()->build_at(0).get_message() ==
          "step 2 of 2 of few_queries(2), merge, cannot be built: no backend of the target cpu joins partial results: "
          "out of glue");
}

TEST_CASE("a launch that fails in the middle makes the run an error") {
    Planned planned;
    planned.backend.joints_jam = true;
    auto const planner = planned.candidates();
    REQUIRE(planner->build_at(0).get_message() == "");
    Error const error = planned.run(*planner);
    CHECK(error.code == error_code_t::GRAPH_EXECUTION_FAILED);
    CHECK(error.err_msg ==
          "step 2 of 2 of few_queries(2), merge, failed, so that the results are incomplete: the printer is on fire");
    for (float const value : planned.all.take_outputs()) REQUIRE(value == -9.0f);
}

TEST_CASE("a step that would use a tensor without memory is an error, not a wrong address") {
    Planned planned;
    auto program = rewrite::program_named(*planned.graph, "few_queries(2)");
    REQUIRE(program.error().get_message() == "");
    nodes::GraphSpec spec = planned.graph->spec();
    auto const o = static_cast<std::size_t>(spec.nodes.front().ports[nodes::attention::O]);
    spec.tensors[o].is_virtual = true;  // which the rewrite's conditions refuse
    auto const without_o = nodes::validate(spec).graph;
    REQUIRE(without_o);
    plan::PlanningInput const input{*without_o, planned.target, planned.settings};
    auto const proposal = cpu::backend().propose(input);
    REQUIRE(proposal.error().get_message() == "");
    auto const engine = plan::ProgramEngine::propose(std::move(program).value(), input, proposal.value()->layout(),
                                                     planned.backends, {HeurMode_t::A});
    REQUIRE(engine.error().get_message() == "");
    CHECK(engine.value()->build().error().get_message() ==
          "step 2 of 2 of few_queries(2), merge, cannot be built: the program uses tensor 'attention::O' of the graph, "
          "to which runs have no pointer; call set_output(true) on it if it is a result, or leave out the rewrite");
}

TEST_CASE("a stored program loads where it is made again, and nowhere else") {
    Planned planned;
    auto const planner = planned.candidates();
    REQUIRE(planner->build_at(0).get_message() == "");
    plan::Stored const stored = planner->plan()->serialize().value();
    CHECK(stored.engine == "program few_queries(2): cpu");
    auto const load = [&](std::string const& bytes) {
        auto const loaded = Planner::load(planned.input(), planned.backends, {stored.engine, bytes});
        return loaded.error().get_message();
    };
    CHECK(load(stored.bytes) == "");
    CHECK(load(stored.bytes.substr(0, 30)) == "the stored program is cut short or damaged; build it again");
    std::string unknown = stored.bytes;
    unknown.replace(unknown.find("few_queries(2)"), 14, "few_answers(2)");
    CHECK(load(unknown) ==
          "the stored plan is of the program 'few_answers(2)', which this library does not make of the graph");
    std::string other = stored.bytes;
    other.replace(other.find("few_queries(2)"), 14, "few_queries(9)");  // 512 keys are 9 splits and a rest
    CHECK(load(other) ==
          "the stored program has 1 plans and the code of 1 joints; few_queries(9) needs 2 plans and the code of 1 "
          "joints: build it again");
    planned.backend.joins_fail = true;
    CHECK(load(stored.bytes).find("step 2 of 2 of few_queries(2), merge, cannot be built") == 0);
}
