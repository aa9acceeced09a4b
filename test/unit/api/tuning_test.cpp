// Graph::choose_plan_by_times() and autotune(), and later builds by their times in the plan store.
#include "support/catch.h"
#include "support/program_graphs.h"
#include "support/skip.h"
#include "support/small_graph.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>
#include <sdpa_graph/plan_store.h>

#include <unistd.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

using namespace cudnn_frontend;
using test::Graph;
using test::ProgramGraph;
namespace fs = std::filesystem;

namespace {

class Store {
   public:
    Store() : path_(fs::temp_directory_path() / ("sdpa_tuning_" + std::to_string(getpid()))) {
        runtime::forget_graphs();
        fs::remove_all(path_);
        sdpa_graph::set_plan_store({path_.string()});
    }
    ~Store() {
        sdpa_graph::set_plan_store({});
        runtime::forget_graphs();
        fs::remove_all(path_);
    }
    // All are of times, since a plan of a CPU has no code to be kept.
    std::size_t count_of_files() const {
        std::size_t count = 0;
        if (!fs::exists(path_)) return count;
        for (auto const& entry : fs::recursive_directory_iterator(path_)) count += entry.is_regular_file() ? 1 : 0;
        return count;
    }

   private:
    fs::path path_;
};

// The candidates are two programs and the graph as given.
ProgramGraph built(BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE, char const* name = "") {
    ProgramGraph all = test::few_queries_graph();
    all.graph.set_name(name).set_rewrites({Rewrite_t::FEW_QUERIES});
    REQUIRE(all.graph.build_operation_graph(Target::cpu()).get_message() == "");
    REQUIRE(all.graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    REQUIRE(all.graph.get_execution_plan_count() == 3);
    REQUIRE(all.graph.build_plans(policy).get_message() == "");
    return all;
}

std::string plan_of(ProgramGraph const& all) {
    std::string name;
    REQUIRE(all.graph.get_plan_name(name).is_good());
    return name;
}

// Times of CPUs are kept where Linux names their model.
bool names_processor() {
    std::ifstream facts("/proc/cpuinfo");
    for (std::string line; std::getline(facts, line);) {
        if (line.starts_with("model name")) return true;
    }
    sdpa_test::skip("the system does not name the model of its processor");
    return false;
}

constexpr char kFirst[] = "program few_queries(2): cpu", kThird[] = "cpu";

}  // namespace

TEST_CASE("A plan is chosen by a caller's times where it is clearly faster") {
    ProgramGraph all = built(BuildPlanPolicy_t::ALL);
    REQUIRE(plan_of(all) == kFirst);
    REQUIRE(all.graph.choose_plan_by_times({{10.0, 12.0, 11.0}, {}, {9.0, 10.5, 10.5}}).get_message() == "");
    CHECK(plan_of(all) == kFirst);
    REQUIRE(all.graph.choose_plan_by_times({{10.0, 12.0, 11.0}, {}, {9.0, 9.5, 30.0}}).get_message() == "");
    CHECK(plan_of(all) == kThird);
    Plan_candidates candidates;
    REQUIRE(all.graph.get_candidates(candidates).is_good());
    Plan_candidate const& third = candidates.candidates.at(2);
    CHECK((third.state == CandidateState::RUNS && third.measured_us == 9.5 && third.measured_least_us == 9.0));
    CHECK((third.measured_greatest_us == 30.0 && third.measured_runs == 3));
    CHECK(candidates.candidates.at(1).measured_runs == 0);
}

TEST_CASE("Times that cannot be compared are errors") {
    Graph none;
    CHECK(none.choose_plan_by_times({}).get_message().find("choose_plan_by_times needs the result of build_plans") ==
          0);
    ProgramGraph all = built();
    CHECK(all.graph.choose_plan_by_times({{1.0}, {}, {}, {}}).get_message() ==
          "choose_plan_by_times(): found times of 4 plans; expected those of 3 plans at most. Try: list them by the "
          "indices of get_plan_name_at_index().");
    CHECK(all.graph.choose_plan_by_times({{1.0}, {2.0}}).get_message() ==
          "plan 1 is not built; call build_plan_at_index(1) first");
    for (double const wrong : {0.0, -1.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
        CHECK(all.graph.choose_plan_by_times({{1.0, wrong}})
                  .get_message()
                  .find("us of plan 0; expected finite times "
                        "above 0") != std::string::npos);
    }
    CHECK(all.graph.choose_plan_by_times({}).get_message() ==
          "choose_plan_by_times(): found no times of program few_queries(2): cpu, the plan that execute() runs; "
          "expected its "
          "times among the others, with which they are compared. Try: time it too, or choose one that was timed by "
          "build_plan_at_index().");
    CHECK(plan_of(all) == kFirst);
}

TEST_CASE("Later builds of an equal graph choose by the times in the plan store") {
    if (!names_processor()) return;
    Store const store;
    auto const measure = [](std::vector<std::vector<double>> const& times) {
        ProgramGraph all = built(BuildPlanPolicy_t::ALL);
        REQUIRE(all.graph.build_plan_at_index(0).is_good());
        REQUIRE(all.graph.choose_plan_by_times(times).get_message() == "");
    };
    measure({{10.0}, {20.0}, {4.0}});
    CHECK(store.count_of_files() == 1);
    CHECK(plan_of(built()) == kThird);
    runtime::forget_graphs();  // as in a later process
    CHECK(plan_of(built(BuildPlanPolicy_t::HEURISTICS_CHOICE, "of another name")) == kThird);
    std::string const text = built().graph.explain(Target::cpu()).to_text();
    CHECK(text.find("measured 4 us, 4 us to 4 us in 1 run") != std::string::npos);
    CHECK(text.find("measured 20 us") != std::string::npos);

    measure({{10.0, 20.0}, {}, {11.0, 12.0}});
    CHECK(plan_of(built()) == kFirst);
    sdpa_graph::set_plan_store({});
    runtime::forget_graphs();
    CHECK(plan_of(built()) == kFirst);
}

TEST_CASE("Graphs that the process planned before under other names are planned by later times") {
    if (!names_processor()) return;
    Store const store;
    auto const plan_of_other = [] { return plan_of(built(BuildPlanPolicy_t::HEURISTICS_CHOICE, "of another name")); };
    ProgramGraph tuned = built(BuildPlanPolicy_t::ALL);
    for (auto const& [times, chosen] : {std::pair(std::vector<std::vector<double>>{{10.0}, {20.0}, {4.0}}, kThird),
                                        std::pair(std::vector<std::vector<double>>{{10.0}, {20.0}, {11.0}}, kFirst)}) {
        plan_of_other();
        REQUIRE(tuned.graph.build_plan_at_index(0).is_good());
        REQUIRE(tuned.graph.choose_plan_by_times(times).get_message() == "");
        CHECK(plan_of_other() == chosen);
    }
}

TEST_CASE("The times in a plan store are found for a graph that was not built") {
    if (!names_processor()) return;
    Store const store;
    ProgramGraph tuned = built(BuildPlanPolicy_t::ALL);
    REQUIRE(tuned.graph.choose_plan_by_times({{10.0, 12.0, 11.0}, {}, {4.0}}).get_message() == "");
    std::string const folder = sdpa_graph::plan_store().folder;
    std::vector<sdpa_graph::Stored_times> found(3);
    Graph small = test::small_graph().graph;
    REQUIRE(sdpa_graph::find_stored_times(folder, small, found).get_message() == "");
    CHECK(found.empty());
    REQUIRE(sdpa_graph::find_stored_times(folder, test::few_queries_graph().graph, found).get_message() == "");
    REQUIRE((found.size() == 1 && found[0].candidates.size() == 2));
    CHECK((found[0].environment.find(", cpu, ") != std::string::npos && found[0].circumstances.empty()));
    sdpa_graph::Timed_candidate const& first = found[0].candidates[0];
    CHECK((first.name == kFirst && first.median_us == 11.0 && first.least_us == 10.0 && first.greatest_us == 12.0));
    CHECK((first.runs == 3 && found[0].candidates[1].name == kThird));
    auto broken = test::small_graph();
    broken.q->set_dim({2, 3, 5, 7});
    CHECK(sdpa_graph::find_stored_times(folder, broken.graph, found).get_message().find("[sdpa_fwd.") !=
          std::string::npos);
    CHECK(sdpa_graph::find_stored_times(folder + "/none", small, found).get_message().find("name its folder") !=
          std::string::npos);
}

TEST_CASE("Autotune keeps its times in the plan store, unless it has one plan alone") {
    if (!names_processor()) return;
    Store const store;
    auto const tune = [](BuildPlanPolicy_t policy) {
        ProgramGraph all = built(policy);
        std::vector<char> workspace(static_cast<std::size_t>(all.graph.get_autotune_workspace_size()) + 64);
        REQUIRE(all.graph.autotune(nullptr, all.pack(), workspace.data()).get_message() == "");
        return plan_of(all);
    };
    tune(BuildPlanPolicy_t::HEURISTICS_CHOICE);
    CHECK(store.count_of_files() == 0);
    std::string const chosen = tune(BuildPlanPolicy_t::ALL);
    CHECK(store.count_of_files() == 1);
    CHECK(plan_of(built()) == chosen);
}
