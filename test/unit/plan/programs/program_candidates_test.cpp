// Programs in the rest of the API, on the CPU targets.
#include "support/catch.h"
#include "support/program_graphs.h"
#include "support/small_graph.h"

#include <algorithm>

using namespace cudnn_frontend;
using test::few_queries_graph;
using test::Graph;
using test::ProgramGraph;
using test::slices_graph;

namespace {

constexpr char const* kProgram = "program few_queries(2): cpu";
constexpr char const* kPacked = "program few_queries(1): cpu";

std::vector<std::string> names_of(Graph const& graph) {
    std::vector<std::string> names(static_cast<std::size_t>(graph.get_execution_plan_count()));
    for (std::size_t i = 0; i < names.size(); ++i) {
        REQUIRE(graph.get_plan_name_at_index(static_cast<std::int64_t>(i), names[i]).get_message() == "");
    }
    return names;
}

std::string name_of(Graph const& graph) {
    std::string name;
    CHECK(graph.get_plan_name(name).get_message() == "");
    return name;
}

// The graph with candidates; nothing is built.
ProgramGraph planned(ProgramGraph described, std::vector<Rewrite_t> const& rewrites,
                     Target const& target = Target::cpu()) {
    described.graph.set_rewrites(rewrites);
    REQUIRE(described.graph.build_operation_graph(target).get_message() == "");
    REQUIRE(described.graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    return described;
}

std::vector<float> run(ProgramGraph& all) {
    auto workspace = test::workspace_of(all.graph);
    CHECK(all.graph.execute(nullptr, all.pack(), workspace.data()).get_message() == "");
    return all.take_outputs();
}

float difference(std::vector<float> const& a, std::vector<float> const& b) {
    REQUIRE(a.size() == b.size());
    float greatest = 0.0f;
    for (std::size_t i = 0; i < a.size(); ++i) greatest = std::max(greatest, std::abs(a[i] - b[i]));
    return greatest;
}

}  // namespace

TEST_CASE("a program is a candidate with an index and a name, and has no engine number") {
    ProgramGraph all = planned(few_queries_graph(), {Rewrite_t::FEW_QUERIES});
    CHECK(names_of(all.graph) == std::vector<std::string>{kProgram, kPacked, "cpu"});
    std::int64_t engines = 0, engine = 7;
    CHECK(all.graph.get_engine_count(engines).get_message() == "");
    CHECK(engines == 1);
    std::map<KnobType_t, std::int64_t> knobs;
    CHECK(all.graph.get_engine_and_knobs_at_index(0, engine, knobs).get_message() ==
          "plan 0, program few_queries(2): cpu, has no engine number for create_execution_plan(); keep the plan itself "
          "with serialize()");
    CHECK(all.graph.create_execution_plan(0, {}).get_message() == "");
    CHECK(names_of(all.graph) == std::vector<std::string>{kProgram, kPacked, "cpu", "cpu"});
}

TEST_CASE("programs and the graph as it is are chosen by index, and give the same numbers") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        ProgramGraph all = planned(few_queries_graph(), {Rewrite_t::FEW_QUERIES}, target);
        REQUIRE(all.graph.build_plan_at_index(2).get_message() == "");
        auto const wanted = run(all);
        for (std::int64_t const index : {1, 0}) {
            REQUIRE(all.graph.build_plan_at_index(index).get_message() == "");
            CHECK(difference(run(all), wanted) < 2e-6f);
        }
        CHECK(name_of(all.graph) == std::string("program few_queries(2): ") + to_string(target.kind()));
    }
}

TEST_CASE("all plans are built and timed, programs among them") {
    ProgramGraph all = planned(slices_graph(), {Rewrite_t::SLICES});
    CHECK(names_of(all.graph) == std::vector<std::string>{"program slices(2): cpu", "program slices(4): cpu",
                                                          "program slices(8): cpu", "cpu"});
    REQUIRE(all.graph.build_plans(BuildPlanPolicy_t::ALL, true).get_message() == "");
    CHECK(name_of(all.graph) == "program slices(2): cpu");
    std::int64_t largest = 0;
    for (std::int64_t i = 0; i < 4; ++i) largest = std::max(largest, all.graph.get_workspace_size_plan_at_index(i));
    CHECK(all.graph.get_autotune_workspace_size() == largest);
    std::vector<double> workspace(static_cast<std::size_t>(largest) / sizeof(double) + 2);
    auto const pack = all.pack();
    REQUIRE(all.graph.execute_plan_at_index(nullptr, pack, workspace.data(), 3).get_message() == "");
    auto const wanted = all.take_outputs();
    for (std::int64_t i = 0; i < 3; ++i) {
        REQUIRE(all.graph.execute_plan_at_index(nullptr, pack, workspace.data(), i).get_message() == "");
        CHECK(difference(all.take_outputs(), wanted) < 2e-5f);
    }
    REQUIRE(all.graph.autotune(nullptr, pack, workspace.data()).get_message() == "");
    auto const names = names_of(all.graph);
    CHECK(std::ranges::find(names, name_of(all.graph)) != names.end());
}

TEST_CASE("a deselected name bars programs of that name and programs of engines of that name") {
    ProgramGraph all = planned(few_queries_graph(), {Rewrite_t::FEW_QUERIES});
    auto const name_without = [&](char const* part) {
        Graph barred(all.graph);
        REQUIRE(barred.deselect_engines({part}).build_plans().get_message() == "");
        return name_of(barred);
    };
    CHECK(name_without("program") == "cpu");
    CHECK(name_without("few_queries") == "cpu");
    CHECK(name_without("few_queries(2)") == kPacked);
    Graph barred(all.graph);
    CHECK(barred.deselect_engines({"cpu"}).check_support().get_message() ==
          "the filters let no engine pass:\n  program few_queries(2): cpu has the deselected name 'cpu'\n  program "
          "few_queries(1): cpu has the deselected name 'cpu'\n  cpu has the deselected name 'cpu'");
}

TEST_CASE("an empty list of rewrites asks for none, as OFF does") {
    CHECK(names_of(planned(few_queries_graph(), {}).graph) == std::vector<std::string>{"cpu"});
    ProgramGraph off = few_queries_graph();
    off.graph.set_rewrites(RewritePolicy_t::OFF);
    REQUIRE(off.graph.build(Target::cpu()).get_message() == "");
    CHECK(names_of(off.graph) == std::vector<std::string>{"cpu"});
}

TEST_CASE("a limit of workspace that nothing keeps to is an error, which names the least that would do") {
    ProgramGraph all = slices_graph();
    all.graph.set_workspace_limit(16);
    REQUIRE(all.graph.build_operation_graph(Target::reference()).get_message() == "");
    REQUIRE(all.graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    std::string const error = all.graph.check_support().get_message();
    auto const at = error.find("\nthe least workspace is ");
    REQUIRE(at != error.npos);
    CHECK(error.find(" bytes, by program slices(8): reference; a limit of so many bytes lets it pass") != error.npos);
    std::int64_t const least = std::stoll(error.substr(at + 24));
    Graph enough(all.graph), too_little(all.graph);
    REQUIRE(enough.set_workspace_limit(least).build_plans().get_message() == "");
    CHECK(enough.get_workspace_size() == least);
    CHECK(name_of(enough) == "program slices(8): reference");
    CHECK(too_little.set_workspace_limit(least - 1).build_plans().is_bad());
}

TEST_CASE("a program's workspace, pack and handle are checked like any plan's") {
    ProgramGraph all = planned(few_queries_graph(), {Rewrite_t::FEW_QUERIES});
    REQUIRE(all.graph.build_plans().get_message() == "");
    std::int64_t const bytes = all.graph.get_workspace_size();
    auto pack = all.pack();
    auto workspace = test::workspace_of(all.graph);
    CHECK(all.graph.execute(pack, workspace.data(), bytes - 1).get_message() ==
          "[run.r09]: found a workspace of " + std::to_string(bytes - 1) + " bytes; expected " + std::to_string(bytes) +
              " bytes, as get_workspace_size() returns, at a multiple of 16 bytes.");
    CHECK(all.graph.execute(nullptr, pack, nullptr).get_message().find("[run.r09]: found a workspace that is null") ==
          0);
    int graph = 0;
    auto* const recording = reinterpret_cast<CUgraph_st*>(&graph);
    std::string const refusal = "a CUDA graph holds only plans that run on a GPU; this plan does not";
    CHECK(all.graph.populate_cuda_graph(nullptr, pack, workspace.data(), recording).get_message() == refusal);
    CHECK(all.graph.update_cuda_graph(nullptr, pack, workspace.data(), recording).get_message() == refusal);
    CHECK(all.graph.warmup(nullptr).get_message() == "");
    pack.begin()->second = nullptr;
    CHECK(all.graph.execute(nullptr, pack, workspace.data()).get_message().find("[run.r0") == 0);
    for (float const value : all.take_outputs()) REQUIRE(value == -9.0f);
}

TEST_CASE("a program runs by sorted pointers, as it does by a pack") {
    ProgramGraph all = planned(few_queries_graph(), {Rewrite_t::FEW_QUERIES});
    REQUIRE(all.graph.build_plans().get_message() == "");
    auto const wanted = run(all);
    auto const pack = all.pack();
    std::vector<void*> sorted;
    for (std::int64_t const uid : all.graph.get_variant_pack_uids_sorted()) sorted.push_back(pack.at(uid));
    REQUIRE(all.graph.prepare_variant_pack_template().get_message() == "");
    auto workspace = test::workspace_of(all.graph);
    auto const count = static_cast<int>(sorted.size());
    CHECK(all.graph.execute(nullptr, sorted.data(), count, workspace.data()).get_message() == "");
    CHECK(all.take_outputs() == wanted);
}

TEST_CASE("the program of an overridden shape is one that the graph's own workspace does for") {
    ProgramGraph all = few_queries_graph(DataType_t::FLOAT, 256);
    all.graph.set_rewrites({Rewrite_t::FEW_QUERIES}).set_override_shape_enabled(true);
    REQUIRE(all.graph.build(Target::cpu()).get_message() == "");
    std::int64_t const own = all.graph.get_workspace_size();
    ProgramGraph shorter = planned(few_queries_graph(DataType_t::FLOAT, 512), {Rewrite_t::FEW_QUERIES});
    REQUIRE(shorter.graph.build_plans().get_message() == "");
    REQUIRE(shorter.graph.get_workspace_size() > own);
    // 512 keys in the memory of 256 that are there twice.
    auto const pack = all.pack();
    std::vector<std::int64_t> uids;
    for (auto const& [uid, memory] : pack) uids.push_back(uid);
    std::vector<std::vector<std::int64_t>> const dims(2, {1, 2, 512, 64}), strides(2, {0, 0, 0, 1});
    std::vector<double> workspace(static_cast<std::size_t>(own) / sizeof(double) + 2);
    CHECK(all.graph.execute(nullptr, pack, workspace.data(), {uids[1], uids[2]}, dims, strides).get_message() == "");
    CHECK(all.take_outputs().front() != -9.0f);
}

TEST_CASE("dynamic shapes and a kernel cache leave programs on a CPU target as they are") {
    ProgramGraph all = few_queries_graph();
    all.graph.set_rewrites({Rewrite_t::FEW_QUERIES})
        .set_dynamic_shape_enabled(true)
        .set_kernel_cache(std::make_shared<KernelCache>());
    REQUIRE(all.graph.build(Target::cpu()).get_message() == "");
    CHECK(name_of(all.graph) == kProgram);
}

TEST_CASE("parts start at any element: heads and slices that are an odd number of bytes apart") {
    for (bool const is_backward : {false, true}) {
        auto const make = [&] {
            return is_backward ? slices_graph(DataType_t::FLOAT, 3) : few_queries_graph(DataType_t::FLOAT, 512, 3);
        };
        ProgramGraph all = planned(make(), {is_backward ? Rewrite_t::SLICES : Rewrite_t::FEW_QUERIES});
        std::int64_t const last = all.graph.get_execution_plan_count() - 1;
        REQUIRE(last >= 1);
        REQUIRE(all.graph.build_plan_at_index(last).get_message() == "");
        auto const wanted = run(all);
        for (std::int64_t i = 0; i < last; ++i) {
            REQUIRE(all.graph.build_plan_at_index(i).get_message() == "");
            CHECK(difference(run(all), wanted) < 2e-5f);
        }
    }
}
