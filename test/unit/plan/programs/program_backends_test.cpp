// The requests of programs to backends: engines of their parts, and joints.
#include "api/graph/graph_impl.h"
#include "expand/expand.h"
#include "plan/planner.h"
#include "support/catch.h"
#include "support/program_graphs.h"

using namespace cudnn_frontend;
using namespace cudnn_frontend::plan;

namespace {

constexpr std::int64_t kKilobyte = 1024;

// Nothing is run.
class Idle final : public Executable {
   public:
    explicit Idle(std::int64_t workspace) : workspace_(workspace) {}

    std::int64_t workspace_size() const override { return workspace_; }
    cudnn_frontend::error_t launch(Launch const&) const override { return {}; }
    Result<std::string> serialize() const override { return std::string(); }

   private:
    std::int64_t workspace_;
};

class IdleEngine final : public Engine {
   public:
    IdleEngine(char const* name, std::int64_t workspace) : info_{.name = name, .workspace_bytes = workspace} {}

    EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<Executable const>> build() override {
        return std::shared_ptr<Executable const>(std::make_shared<Idle>(info_.workspace_bytes));
    }

   private:
    EngineInfo info_;
};

// Takes every graph, by an engine that is fast and one that is small.
class IdleBackend final : public Backend {
   public:
    explicit IdleBackend(cudnn_frontend::error_t obstacle = {}) : obstacle_(std::move(obstacle)) {}

    Backends const alone{this};  // planners refer to it

    char const* name() const override { return "idle"; }
    bool serves(Target const&) const override { return true; }
    Result<std::shared_ptr<Proposal const>> propose(PlanningInput const& input) const override {
        auto const op_graph = expand::expand(input.graph, {});
        if (op_graph.is_bad()) return op_graph.error();
        auto layout = std::make_shared<PackLayout const>(make_pack_layout(input.graph.spec(), op_graph.value()));
        return std::make_shared<Proposal const>(std::move(layout),
                                                Engines{std::make_shared<IdleEngine>("fast", 64 * kKilobyte),
                                                        std::make_shared<IdleEngine>("small", kKilobyte)});
    }
    bool joins(Target const&) const override { return true; }
    cudnn_frontend::error_t check_joints() const override { return obstacle_; }
    std::vector<BehaviorNote_t> notes_of_joints() const override { return {BehaviorNote_t::RUNTIME_COMPILATION}; }
    Result<std::shared_ptr<Executable const>> join(rewrite::Joint const&, Target const&, Settings const&,
                                                   std::optional<std::string_view>) const override {
        return std::shared_ptr<Executable const>(std::make_shared<Idle>(0));
    }

   private:
    cudnn_frontend::error_t obstacle_;
};

nodes::ValidatedGraph validated(test::ProgramGraph& all) {
    REQUIRE(all.graph.validate().get_message() == "");
    return *nodes::validate(detail::Graph_access::snapshot(all.graph).spec).graph;
}

std::shared_ptr<Planner> planned(test::ProgramGraph all, Settings const& settings, IdleBackend const& backend) {
    nodes::ValidatedGraph const graph = validated(all);
    auto const proposed = Planner::propose({graph, Target::cpu(), settings}, backend.alone);
    REQUIRE(proposed.error().get_message() == "");
    auto planner = proposed.value()->with_candidates({HeurMode_t::A});
    REQUIRE(planner.error().get_message() == "");
    return planner.value();
}

Settings settings_for(Rewrite_t rewrite) {
    Settings settings;
    settings.rewrites.listed = {rewrite};
    return settings;
}

std::vector<std::string> names_of(Planner const& planner) {
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < planner.candidate_count(); ++i) names.push_back(planner.candidate(i).value().name);
    return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("programs that join parts are left out where nothing can be joined, and the report says so") {
    IdleBackend const without({error_code_t::NVRTC_COMPILATION_FAILED, "the compiler was not found"});
    auto const planner = planned(test::few_queries_graph(), settings_for(Rewrite_t::FEW_QUERIES), without);
    CHECK(names_of(*planner) == Names{"program few_queries(1): fast", "fast", "small"});
    CHECK(planner->candidates({}).to_text().find(
              "\n  programs that join partial results are left out: the compiler was not found\n") !=
          std::string::npos);

    IdleBackend const with;
    auto const all = planned(test::few_queries_graph(), settings_for(Rewrite_t::FEW_QUERIES), with);
    CHECK(names_of(*all) == Names{"program few_queries(2): fast", "program few_queries(1): fast", "fast", "small"});
    CHECK(all->candidates({}).to_text().find("left out") == std::string::npos);
}

TEST_CASE("a program that joins parts has the notes of joints") {
    IdleBackend const backend;
    auto const planner = planned(test::few_queries_graph(), settings_for(Rewrite_t::FEW_QUERIES), backend);
    CHECK(planner->candidate(0).value().behavior_notes == std::vector{BehaviorNote_t::RUNTIME_COMPILATION});
    CHECK(planner->candidate(1).value().behavior_notes.empty());  // one part
}

TEST_CASE("under a limit of workspace programs come by the engine that needs the least, too, and the least is named") {
    IdleBackend const backend;
    Settings settings = settings_for(Rewrite_t::SLICES);
    CHECK(names_of(*planned(test::slices_graph(), settings, backend)).front() == "program slices(2): fast");
    settings.slices_for_workspace = true;
    auto const planner = planned(test::slices_graph(), settings, backend);
    CHECK(names_of(*planner) == Names{"program slices(2): fast", "program slices(4): fast", "program slices(8): fast",
                                      "program slices(2): small", "program slices(4): small",
                                      "program slices(8): small", "fast", "small"});

    Filters filters;
    filters.largest_workspace = kKilobyte;
    REQUIRE(planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, filters).get_message() == "");
    CHECK(planner->plan()->info().name == "program slices(2): small");
    filters.largest_workspace = kKilobyte - 1;
    std::string const error = planner->check_support(filters).get_message();
    CHECK(error.find("\nthe least workspace is 1024 bytes, by program slices(2): small; a limit of so many bytes lets "
                     "it pass") != std::string::npos);
}

TEST_CASE("a filter that bars the first engine of a program's parts leaves them the next one") {
    IdleBackend const backend;
    auto const planner = planned(test::slices_graph(), settings_for(Rewrite_t::SLICES), backend);
    Filters filters;
    filters.barred_names = {"fast"};
    auto const within = Planner::with_parts_within(filters, planner);
    CHECK(names_of(*within) ==
          Names{"program slices(2): small", "program slices(4): small", "program slices(8): small", "fast", "small"});
    REQUIRE(within->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, filters).get_message() == "");
    CHECK(within->plan()->info().name == "program slices(2): small");
    CHECK(Planner::with_parts_within(filters, within) == within);

    filters.barred_names = {"fast", "slices(2)"};
    CHECK(names_of(*Planner::with_parts_within(filters, planner)) ==
          Names{"program slices(2): fast", "program slices(4): small", "program slices(8): small", "fast", "small"});
    for (Names const& names : {Names{"fast", "small"}, Names{"program"}, Names{}}) {
        filters.barred_names = names;
        CHECK(Planner::with_parts_within(filters, planner) == planner);
    }
}

TEST_CASE("a plan that filters bar is chosen no more, and one that they let pass stays chosen") {
    IdleBackend const backend;
    auto const planner = planned(test::slices_graph(), settings_for(Rewrite_t::SLICES), backend);
    Filters filters;
    filters.barred_names = {"fast"};
    REQUIRE(planner->build_at(0).get_message() == "");
    CHECK(Planner::with_parts_within(filters, planner)->plan() == nullptr);
    REQUIRE(planner->build_at(4).get_message() == "");
    Plan const* const small = planner->plan();
    CHECK(small->info().name == "small");
    CHECK(Planner::with_parts_within(filters, planner)->plan() == small);
}

TEST_CASE("filters of a program's parts do not bring back a program that gave wrong results") {
    IdleBackend const backend;
    auto const planner = planned(test::slices_graph(), settings_for(Rewrite_t::SLICES), backend);
    REQUIRE(planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}).get_message() == "");
    Plan const& wrong = *planner->plan();
    REQUIRE(planner->replace(wrong, "element 3 is wrong", {}).get_message() == "");
    CHECK(planner->plan()->info().name == "program slices(4): fast");
    CHECK(Planner::with_parts_within({}, planner) == planner);
}
