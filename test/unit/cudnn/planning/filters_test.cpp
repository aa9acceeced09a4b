// The user's filters, and the number of multiprocessors that plans are made for, reach the choice of engines.
#include "unit/cudnn/planning/recorded_planning.h"

#include "support/catch.h"

#include <functional>

using namespace cudnn_frontend;
using sdpa_test::h200;
using sdpa_test::RecordedPlanning;

namespace {

struct Row {
    std::function<void(graph::Graph&)> filter;
    std::string reason;  // why each engine is barred; empty where they pass
};

// The rows for engines that need 1000 bytes of workspace and 4096 of shared memory, compile at run time, use tensor
// cores and are not deterministic.
std::vector<Row> rows() {
    constexpr auto kCompiles = BehaviorNote_t::RUNTIME_COMPILATION;
    constexpr auto kCaptures = BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API;
    constexpr auto kTensorCore = NumericalNote_t::TENSOR_CORE, kFft = NumericalNote_t::FFT;
    constexpr auto kAnyOrder = NumericalNote_t::NONDETERMINISTIC;
    using graph::Graph;
    return {
        {[](Graph&) {}, ""},
        {[](Graph& g) { g.deselect_workspace_greater_than(1000); }, ""},
        {[](Graph& g) { g.deselect_workspace_greater_than(999); },
         "needs 1000 bytes of workspace, more than the limit of 999"},
        {[](Graph& g) { g.deselect_shared_mem_greater_than(4096); }, ""},
        {[](Graph& g) { g.deselect_shared_mem_greater_than(4095); },
         "needs 4096 bytes of shared memory, more than the limit of 4095"},
        {[](Graph& g) {
             g.deselect_engines({"engine", ""});
         },
         ""},
        {[](Graph& g) {
             g.deselect_engines({"engine", "eng"});
         },
         "has the deselected name 'eng'"},
        {[](Graph& g) { g.select_behavior_notes({kCompiles}); }, ""},
        {[](Graph& g) {
             g.select_behavior_notes({kCompiles, kCaptures});
         },
         "lacks the note SUPPORTS_CUDA_GRAPH_NATIVE_API"},
        {[](Graph& g) { g.deselect_behavior_notes({kCaptures}); }, ""},
        {[](Graph& g) {
             g.deselect_behavior_notes({kCaptures, kCompiles});
         },
         "has the note RUNTIME_COMPILATION"},
        {[](Graph& g) {
             g.select_numeric_notes({kTensorCore, kAnyOrder});
         },
         ""},
        {[](Graph& g) {
             g.select_numeric_notes({kTensorCore, kFft});
         },
         "lacks the note FFT"},
        {[](Graph& g) { g.deselect_numeric_notes({kFft}); }, ""},
        {[](Graph& g) {
             g.deselect_numeric_notes({kFft, kAnyOrder});
         },
         "has the note NONDETERMINISTIC"},
    };
}

void describe_engines(sdpa_test::FakeCudnn& fake) {
    fake.config_workspace_bytes = fake.workspace_bytes = 1000;
    fake.shared_memory_bytes = 4096;
    fake.behavior_notes = {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION};
    fake.numerical_notes = {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
}

void find_two_engines(graph::Graph& graph) {
    REQUIRE(graph.build_operation_graph(h200()).get_message() == "");
    REQUIRE(graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    REQUIRE(graph.get_execution_plan_count() == 2);
}

std::size_t count_of(std::string const& text, std::string const& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
    return count;
}

}  // namespace

TEST_CASE("each filter bars the engines it is about, and no others, whenever it was said") {
    auto const table = rows();
    for (std::size_t i = 0; i < table.size(); ++i) {
        for (bool const is_early : {true, false}) {
            CAPTURE(i, table[i].reason, is_early);
            RecordedPlanning planning;
            describe_engines(planning.fake);
            auto small = test::small_graph();
            if (is_early) table[i].filter(small.graph);
            find_two_engines(small.graph);
            if (!is_early) table[i].filter(small.graph);
            std::string const support = small.graph.check_support().get_message();
            std::string const built = small.graph.build_plans().get_message();
            if (table[i].reason.empty()) {
                CHECK(support == "");
                CHECK(built == "");
            } else {
                CHECK(support.find("the filters let no engine pass:\n") != support.npos);
                CHECK(count_of(support, " " + table[i].reason) == 2);  // engines
                CHECK(count_of(built, " " + table[i].reason) == 2);
                CHECK(planning.fake.log().find("EXECUTION_PLAN #") == std::string::npos);  // none was compiled
            }
        }
    }
}

TEST_CASE("a plan that needs more workspace than its engine told is barred once it is built") {
    RecordedPlanning planning;
    describe_engines(planning.fake);
    planning.fake.workspace_bytes = 2000;
    auto small = test::small_graph();
    small.graph.deselect_workspace_greater_than(1500);
    find_two_engines(small.graph);
    CHECK(small.graph.check_support().get_message() == "");
    std::string const message = small.graph.build_plans().get_message();
    CHECK(count_of(message, "needs 2000 bytes of workspace, more than the limit of 1500") == 2);
    CHECK(small.graph.get_workspace_size() == 0);
}

TEST_CASE("heuristics are asked for as many multiprocessors as the user said") {
    for (int const count : {0, 64}) {
        RecordedPlanning planning;
        auto small = test::small_graph();
        if (count > 0) small.graph.set_sm_count(count);
        find_two_engines(small.graph);
        INFO(planning.fake.log());
        CHECK(count_of(planning.fake.log(), "ENGINEHEUR #") == 1);
        CHECK(count_of(planning.fake.log(), "ENGINEHEUR_SM_COUNT_TARGET") == (count > 0 ? 1 : 0));
        CHECK(count_of(planning.fake.log(), "ENGINEHEUR_SM_COUNT_TARGET 64\n") == (count > 0 ? 1 : 0));
    }
}
