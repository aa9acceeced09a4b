// Graphs that are planned for their class of shapes: one plan for all of them, however they come.
#include "api/backends.h"
#include "api/graph/graph_impl.h"
#include "cpu/cpu_backend.h"
#include "plan/known_plans.h"
#include "support/catch.h"
#include "support/program_graphs.h"
#include "support/small_graph.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>

#include <atomic>
#include <thread>

using namespace cudnn_frontend;
using test::ProgramGraph;

namespace {

// Forward of one head.
ProgramGraph forward_graph(std::int64_t length, std::int64_t batches = 1, bool has_bias = false) {
    ProgramGraph all(DataType_t::HALF);
    ProgramGraph::Sizes const rows = {batches, 1, length, 8};
    auto const q = all.input("Q", rows), k = all.input("K", rows), v = all.input("V", rows);
    auto options = graph::SDPA_attributes().set_name("attention").set_attn_scale(0.5f);
    if (has_bias) options.set_bias(all.input("bias", {1, 1, length, length}));
    all.output(all.graph.sdpa(q, k, v, options)[0], rows);
    return all;
}

std::string name_after_build(ProgramGraph& all) {
    REQUIRE(all.graph.build(Target::cpu()).get_message() == "");
    std::string name;
    CHECK(all.graph.get_plan_name(name).is_good());
    return name;
}

std::string name_with(ShapePolicy_t policy, ProgramGraph all) {
    all.graph.set_shape_policy(policy);
    return name_after_build(all);
}

// The CPU's backend, which counts its proposals and what is built of them.
class CountingBackend final : public plan::Backend {
   public:
    mutable std::atomic<int> proposals = 0, builds = 0;
    plan::Backends const alone{this};

    char const* name() const override { return "counting"; }
    bool serves(Target const&) const override { return true; }
    bool joins(Target const&) const override { return true; }
    std::optional<std::string> circumstances(Target const&, plan::Settings const&) const override { return ""; }
    Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, Target const& target,
                                                         plan::Settings const& settings,
                                                         std::optional<std::string_view> stored) const override {
        return cpu::backend().join(joint, target, settings, stored);
    }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
        ++proposals;
        auto proposal = cpu::backend().propose(input);
        if (proposal.is_bad()) return proposal;
        auto engines = proposal.value()->engines({HeurMode_t::A});
        auto engine = std::make_shared<CountingEngine>(engines.value().front(), builds);
        auto layout = std::make_shared<plan::PackLayout const>(proposal.value()->layout());
        return std::shared_ptr<plan::Proposal const>(
            std::make_shared<plan::Proposal>(std::move(layout), plan::Engines{std::move(engine)}));
    }

   private:
    class CountingEngine final : public plan::Engine {
       public:
        CountingEngine(std::shared_ptr<plan::Engine> engine, std::atomic<int>& builds)
            : engine_(std::move(engine)), builds_(builds) {}
        plan::EngineInfo const& info() const override { return engine_->info(); }
        Result<std::shared_ptr<plan::Executable const>> build() override {
            ++builds_;
            return engine_->build();
        }

       private:
        std::shared_ptr<plan::Engine> engine_;
        std::atomic<int>& builds_;
    };
};

void plan_for(std::int64_t length, CountingBackend const& backend) {
    ProgramGraph all = forward_graph(length, 3);
    REQUIRE(all.graph.validate().get_message() == "");
    auto const graph = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(all.graph).spec).graph;
    plan::Settings settings;
    settings.shape_policy = ShapePolicy_t::CLASSES;
    auto proposed = plan::Planner::propose({*graph, Target::cpu(), settings}, backend.alone);
    REQUIRE(proposed.error().get_message() == "");
    auto planner = proposed.value()->with_candidates({HeurMode_t::A, HeurMode_t::FALLBACK});
    REQUIRE(planner.error().get_message() == "");
    REQUIRE(planner.value()->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}).get_message() == "");
}

// The process's policy, for one test.
struct Policy {
    explicit Policy(ShapePolicy_t policy) { runtime::set_shape_policy(policy); }
    ~Policy() { runtime::set_shape_policy({}); }
};

}  // namespace

TEST_CASE("graphs are planned for their shapes, unless they or the process ask for classes") {
    CHECK(name_with(ShapePolicy_t::EXACT, forward_graph(9)) == "cpu");
    CHECK(name_with(ShapePolicy_t::AUTO, forward_graph(9)) == "cpu");        // which plans quickly
    CHECK(name_with(ShapePolicy_t::ALL_SHAPES, forward_graph(9)) == "cpu");  // whose engine serves all of them
    CHECK(name_with(ShapePolicy_t::CLASSES, forward_graph(9)) == "program classes: cpu");
    ProgramGraph unsaid = forward_graph(9);
    CHECK(name_after_build(unsaid) == "cpu");
    Policy const policy(ShapePolicy_t::CLASSES);
    CHECK(runtime::shape_policy() == ShapePolicy_t::CLASSES);
    ProgramGraph by_process = forward_graph(9);
    CHECK(name_after_build(by_process) == "program classes: cpu");
    CHECK(name_with(ShapePolicy_t::EXACT, forward_graph(9)) == "cpu");
}

TEST_CASE("a graph that cannot be in a class is planned for its shape, and its candidates say why") {
    ProgramGraph all = forward_graph(9, 1, true);
    all.graph.set_shape_policy(ShapePolicy_t::CLASSES);
    CHECK(name_after_build(all) == "cpu");
    std::string text;
    REQUIRE(all.graph.print_candidates(text).is_good());
    CHECK(text.find("planned for its exact shape: the rewrite classes does not apply:") != text.npos);
    CHECK(text.find("classes.c02") != text.npos);
}

TEST_CASE("a class is proposed and built once, whatever shapes and however many threads ask for it") {
    CountingBackend const backend;
    plan_for(65, backend);
    for (std::int64_t const length : {66, 100, 128}) plan_for(length, backend);
    CHECK(backend.proposals == 1);
    CHECK(backend.builds == 1);
    plan_for(129, backend);
    CHECK(backend.proposals == 2);
    CHECK(backend.builds == 2);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back([&, i] { plan_for(257 + i, backend); });
    for (std::thread& thread : threads) thread.join();
    CHECK(backend.builds == 3);
    runtime::forget_graphs();  // they refer to the backend
}

TEST_CASE("a stored plan of a class is loaded for another graph of the same shape, and computes the same") {
    ProgramGraph all = forward_graph(9, 2);
    all.graph.set_shape_policy(ShapePolicy_t::CLASSES);
    REQUIRE(name_after_build(all) == "program classes: cpu");
    std::vector<std::uint8_t> bytes;
    REQUIRE(all.graph.serialize(bytes).get_message() == "");
    graph::Graph loaded;
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    auto workspace = test::workspace_of(all.graph);
    auto const pack = all.pack();
    REQUIRE(all.graph.execute(nullptr, pack, workspace.data()).get_message() == "");
    auto const made = all.take_outputs();
    CHECK(loaded.get_workspace_size() == all.graph.get_workspace_size());
    REQUIRE(loaded.execute(nullptr, all.pack(), workspace.data()).get_message() == "");
    CHECK(all.take_outputs() == made);
}
