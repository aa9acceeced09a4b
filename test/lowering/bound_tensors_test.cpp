// The kernels of a plan bind the tensors that an option is about, according to the stored plan, with no GPU.
#include "gpu/cases/gpu_cases.h"
#include "lowering/case_graphs.h"

#include <algorithm>
#include <regex>
#include <set>

using namespace sdpa_test;

namespace {

// Whether this cuDNN is below 9.20, which offers plans whose first candidate does not compile.
bool offers_a_plan_that_fails() {
    if (!has_cudnn()) return false;
    bool const offers = cudnn_frontend::runtime::cudnn_version() < 92000;
    if (!offers) sdpa_test::skip("this cuDNN offers no candidate that does not compile");
    return offers;
}

using Uids = std::set<std::int64_t>;

// The uids that a plan binds: its text lists a kernel's parameters with the uid of each.
Uids bound_uids(Graph& graph) {
    std::vector<std::uint8_t> bytes;
    REQUIRE(graph.serialize(bytes).get_message() == "");
    std::string const text(bytes.begin(), bytes.end());
    static std::regex const parameter(R"re("uid":(\d{1,9}),("size":\d+,)?"update_as")re");
    Uids uids;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), parameter); at != std::sregex_iterator(); ++at) {
        uids.insert(std::stoll((*at)[1].str()));
    }
    return uids;
}

AttentionCase case_of(std::string const& group) {
    auto const groups = gpu_case_groups();
    auto const at = std::find_if(groups.begin(), groups.end(), [&](CaseGroup const& g) { return g.name == group; });
    REQUIRE(at != groups.end());
    return at->cases[3];
}

// Whether the kernels of cuDNN's plan of the case's forward know every tensor of the caller's. The lists of parameters
// leave out the offsets of packed keys, which kernels reach through the keys' own descriptors.
void check_bound(std::string const& group, char const* device = "h200") {
    INFO(group << " on " << device);
    Graphs graphs(case_of(group));
    graphs.forward.graph().deselect_engines({"attention"});
    REQUIRE(graphs.forward.build(Target::offline(device)).get_message() == "");
    Uids const bound = bound_uids(graphs.forward.graph());
    for (Session::Entry const& entry : graphs.forward.entries()) {
        INFO(entry.tensor->get_name());
        if (entry.row_of_offset == 0) CHECK(bound.count(entry.tensor->get_uid()) == 1);
    }
}

}  // namespace

TEST_CASE("kernels read lengths, biases, masks, scales and factors", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const group :
         {"plain", "padding", "padding and causal", "bias", "dropout", "dropout mask", "scale, on the device",
          "scale, by value", "documents", "relative bias", "ragged", "pages of 16", "FP8, padding"}) {
        check_bound(group);
    }
}

TEST_CASE("kernels read and write dense tensors beside ragged ones, with offsets from a table", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const group :
         {"ragged inputs, dense results", "dense inputs, ragged results", "ragged, dense keys", "dense, ragged keys",
          "ragged inputs, dense results, unified", "pages, ragged queries, dense results"}) {
        check_bound(group);
    }
}

TEST_CASE("kernels read the sink and write Stats", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const group : {"sink", "sink and causal", "sink and dropout", "sink and padding",
                                    "sink and ragged", "sink, one query, many keys"}) {
        check_bound(group);
    }
}

TEST_CASE("kernels write Max and Sum_exp, together or one of them", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const group : {"max and sum_exp", "max alone", "sum_exp alone", "max, sum_exp and padding",
                                    "max, sum_exp and ragged", "sum_exp and ragged", "max, sum_exp, one query"}) {
        check_bound(group);
    }
}

TEST_CASE("kernels of Blackwell read block masks", "[offline]") {
    if (has_cudnn()) check_bound("block mask", "b200");
}

TEST_CASE("the same on other architectures", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const device : {"a100", "l40s", "b200", "rtx5090"}) {
        for (char const* const group : {"sink and padding", "max and sum_exp", "max alone", "sum_exp alone"}) {
            check_bound(group, device);
        }
    }
}

TEST_CASE("a build takes the next plan where cuDNN offers one that does not compile", "[offline]") {
    if (!offers_a_plan_that_fails()) return;
    Graphs graphs(case_of("sink and padding"));
    Graph& graph = graphs.forward.graph();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    std::string name;
    REQUIRE(graph.get_plan_name(name).is_good());
    CHECK(name.find("eng1") == 0);
    std::string first;
    REQUIRE(graph.get_plan_name_at_index(0, first).is_good());
    CHECK(first.find("eng2") == 0);
    CHECK(graph.build_plan_at_index(0).is_bad());
    CHECK(graph.get_execution_plan_count() > 1);
}

TEST_CASE("a candidate is compiled once, whatever comes of it, and asked for anew it compiles again", "[offline]") {
    if (!offers_a_plan_that_fails()) return;
    Graphs graphs(case_of("sink and padding"));
    Graph& graph = graphs.forward.graph();
    REQUIRE(graph.build(Target::offline("h200")).get_message() == "");
    std::string const failure = graph.build_plan_at_index(0).get_message();
    CHECK(failure != "");
    CHECK(graph.build_plan_at_index(0).get_message() == failure);
    for (int i = 0; i < 2; ++i) CHECK(graph.build_plan_at_index(1).get_message() == "");
    REQUIRE(graph.create_execution_plans({cudnn_frontend::HeurMode_t::A}).get_message() == "");
    CHECK(graph.build_plans().get_message() == "");
}
