// The foundations of the runs without a pass, tested without a GPU.
#include "gpu/pass_trials.h"
#include "gpu/backends_without_pass.h"
#include "lowering/has_cudnn.h"

#include "support/small_graph.h"

#include <set>

using namespace sdpa_test;
using namespace cudnn_frontend;

namespace {

constexpr quirks::Capabilities kH200{.cudnn_version = 91900, .sm = 90}, kB200{.cudnn_version = 91900, .sm = 100};

// One of each group.
std::vector<AttentionCase> some_cases() {
    std::vector<AttentionCase> cases;
    for (CaseGroup const& group : gpu_case_groups()) cases.push_back(group.cases[3]);
    return cases;
}

// The rewrites that no GPU ran in the other form; with has_cases only those that change some case.
std::set<std::string> untried(std::vector<PassTrial> const& trials, bool has_cases) {
    std::set<std::string> ids;
    for (PassTrial const& trial : trials) {
        bool const is_untried = trial.quirk->evidence == quirks::Evidence::Untried;
        if (is_untried && !(has_cases && trial.cases.empty())) ids.insert(trial.quirk->id);
    }
    return ids;
}

}  // namespace

TEST_CASE("the suite has cases for each pass that was never tried without, except block scales", "[gpu]") {
    auto const cases = some_cases();
    for (auto const& here : {kH200, kB200}) {
        CAPTURE(here.sm);
        auto const trials = pass_trials(cases, {}, here);
        std::set<std::string> wanted = untried(trials, false);
        CHECK(wanted.count("cudnn.w06") == 1);
        CHECK(wanted.count("cudnn.w21") == (here.sm == 100 ? 1 : 0));
        wanted.erase("cudnn.w22");
        CHECK(untried(trials, true) == wanted);
        // A form that no engine accepts is tested offline.
        for (PassTrial const& trial : trials) CHECK(trial.quirk->evidence != quirks::Evidence::NoEngine);
    }
}

TEST_CASE("a pass is tried with the graphs that it changes", "[gpu]") {
    auto const cases = some_cases();
    auto const trials = pass_trials(cases, {"cudnn.w06", "cudnn.w09"}, kH200);
    REQUIRE(trials.size() == 2);
    for (TriedGraphs const& tried : trials[0].cases) {
        CHECK(cases[tried.number].dropout == Dropout::Mask);
        CHECK(tried.forward);
        CHECK_FALSE(tried.backward);
    }
    for (TriedGraphs const& tried : trials[1].cases) {
        CHECK(tried.backward);
        CHECK_FALSE(tried.forward);
    }
    CHECK(trials[1].cases.size() > trials[0].cases.size());
    CHECK(pass_trials(cases, {"cudnn.w99"}, kH200).empty());
}

TEST_CASE("a program leaves out the pass that it names", "[gpu]") {
    leave_out_pass_of("cudnn.w02");  // no engine accepts softmax without the logarithm that the pass adds
    if (!has_cudnn()) return;
    graph::Graph graph = test::small_graph().graph;
    graph.set_io_data_type(DataType_t::HALF);
    REQUIRE(graph.build_operation_graph(Target::offline("h200")).get_message() == "");
    std::string const refusal = graph.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK}).get_message();
    CHECK(refusal.find("cuDNN has no engine for this graph") != std::string::npos);
}
