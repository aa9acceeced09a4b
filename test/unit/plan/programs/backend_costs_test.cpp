// The choice of the backend that gives a step's cost.
#include "plan/programs/backend_costs.h"

#include "api/graph/graph_impl.h"
#include "rewrite/offers.h"
#include "support/catch.h"
#include "support/program_graphs.h"

using namespace cudnn_frontend;
using namespace cudnn_frontend::plan;

namespace {

struct Known {
    std::optional<double> graph, joint;
};

class KnownCosts final : public rewrite::Costs {
   public:
    explicit KnownCosts(Known known) : known_(known) {}
    std::optional<double> of(nodes::ValidatedGraph const&) const override { return known_.graph; }
    std::optional<double> of(rewrite::Joint const&) const override { return known_.joint; }

   private:
    Known known_;
};

// Has nothing but costs, if any, and counts how often it is asked whether it has them.
class Estimator final : public Backend {
   public:
    enum class Runs { Graphs, Joints };

    Estimator(Runs runs, std::optional<Known> known, Target::Kind served = Target::Kind::CPU)
        : runs_(runs), known_(known), served_(served) {}

    char const* name() const override { return "estimator"; }
    bool serves(Target const& target) const override { return target.kind() == served_; }
    bool takes(nodes::ValidatedGraph const&) const override { return runs_ == Runs::Graphs; }
    bool joins(Target const& target) const override { return runs_ == Runs::Joints && serves(target); }
    Result<std::shared_ptr<Proposal const>> propose(PlanningInput const&) const override {
        return cudnn_frontend::error_t(error_code_t::GRAPH_NOT_SUPPORTED, "an estimator has no engines");
    }
    std::unique_ptr<rewrite::Costs const> costs(Target const&, Settings const&) const override {
        ++asked;
        return known_ ? std::make_unique<KnownCosts>(*known_) : nullptr;
    }

    mutable int asked = 0;

   private:
    Runs runs_;
    std::optional<Known> known_;
    Target::Kind served_;
};

constexpr auto kGraphs = Estimator::Runs::Graphs, kJoints = Estimator::Runs::Joints;

nodes::ValidatedGraph given() {
    auto all = test::few_queries_graph();
    REQUIRE(all.graph.validate().get_message() == "");
    return *nodes::validate(detail::Graph_access::snapshot(all.graph).spec).graph;
}

// One attention, then a merge.
rewrite::Program program() {
    auto made = rewrite::program_named(given(), "few_queries(2)");
    REQUIRE(made.error().get_message() == "");
    return std::move(made).value();
}

std::optional<double> cost_of_program(Backends const& backends) {
    Settings const settings;
    Target const target = Target::cpu();
    return rewrite::cost_of(program(), BackendCosts(target, settings, backends));
}

std::optional<double> cost_of_graph(Backends const& backends) {
    Settings const settings;
    Target const target = Target::cpu();
    return BackendCosts(target, settings, backends).of(given());
}

}  // namespace

TEST_CASE("the backend that runs a step says what it costs, so that a program's steps may be of several") {
    Estimator const attends(kGraphs, {{10.0, 1.0}}), joins(kJoints, {{2.0, 3.0}});
    for (Backends const& backends : {Backends{&attends, &joins}, Backends{&joins, &attends}}) {
        CHECK(cost_of_graph(backends) == 10.0);
        CHECK(cost_of_program(backends) == 13.0);
    }
}

TEST_CASE("of two backends that know a cost the first one says it") {
    Estimator const first(kGraphs, {{10.0, {}}}), second(kGraphs, {{20.0, {}}}), without(kGraphs, {{{}, {}}});
    CHECK(cost_of_graph({&without, &first, &second}) == 10.0);
    CHECK(cost_of_graph({&second, &first}) == 20.0);
}

TEST_CASE("a program of which no backend of the target knows one step has no cost") {
    Estimator const attends(kGraphs, {{10.0, {}}}), joins(kJoints, {{{}, 3.0}}), without(kJoints, std::nullopt);
    Estimator const elsewhere(kJoints, {{{}, 3.0}}, Target::Kind::CUDA);
    CHECK(cost_of_program({&attends, &joins}));
    CHECK_FALSE(cost_of_program({&attends}));
    CHECK_FALSE(cost_of_program({&joins}));
    CHECK_FALSE(cost_of_program({&attends, &without}));
    CHECK_FALSE(cost_of_program({&attends, &elsewhere}));
}

TEST_CASE("a backend is asked for figures once, and only where it runs something") {
    Estimator const attends(kGraphs, {{10.0, {}}}), joins(kJoints, {{{}, 3.0}}), without(kGraphs, std::nullopt);
    Settings const settings;
    Target const target = Target::cpu();
    Backends const backends{&without, &attends, &joins};
    BackendCosts const costs(target, settings, backends);
    CHECK(attends.asked == 0);
    for (int time = 0; time < 2; ++time) CHECK(costs.of(given()) == 10.0);
    CHECK(without.asked == 1);
    CHECK(attends.asked == 1);
    CHECK(joins.asked == 0);
}

TEST_CASE("plans are made for all multiprocessors of a device, or for as many as were set") {
    Settings settings;
    CHECK(multiprocessors_of(132, settings) == 132);
    settings.sm_count = 100;
    CHECK(multiprocessors_of(132, settings) == 100);
    CHECK(multiprocessors_of(80, settings) == 80);
}
