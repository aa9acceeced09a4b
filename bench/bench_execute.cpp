// The overhead of execute(), on an engine that does nothing: nanoseconds, and how they divide over the forms of a pack.
//
//     bench_execute [rounds]
//
// A round is 1000 runs on the same memory, as programs mostly do; the least and the median of the rounds. The large map
// has an entry for each of 36 uids, as programs pass one map to all their graphs.
#include "api/graph/graph_impl.h"
#include "expand/expand.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"

#include "attention_graph.h"
#include "process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unordered_map>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
namespace plan = fe::plan;

class Nothing final : public plan::Executable {
   public:
    std::int64_t workspace_size() const override { return 64; }
    fe::error_t launch(plan::Launch const&) const override { return {}; }
    fe::Result<std::string> serialize() const override { return std::string(); }
};

class NothingEngine final : public plan::Engine {
   public:
    plan::EngineInfo const& info() const override { return info_; }
    fe::Result<std::shared_ptr<plan::Executable const>> build() override {
        return std::shared_ptr<plan::Executable const>(std::make_shared<Nothing>());
    }

   private:
    plan::EngineInfo info_{.name = "nothing"};
};

void require(fe::error_t const& status) {
    if (status.is_good()) return;
    std::fprintf(stderr, "%s\n", status.get_message().c_str());
    std::exit(1);
}

// Gives a described graph a plan of the engine that does nothing.
void plan_nothing(fe::graph::Graph& graph) {
    require(graph.validate());
    fe::graph::Graph::Impl& parts = *fe::detail::Graph_access::parts(graph);
    auto const operations = fe::expand::expand(parts.checked->graph, {});
    require(operations.error());
    auto const layout = std::make_shared<plan::PackLayout const>(
        plan::make_pack_layout(parts.checked->graph.spec(), operations.value()));
    plan::Engines const engines{std::make_shared<NothingEngine>()};
    plan::Planner::Proposals proposals{{"nothing", std::make_shared<plan::Proposal const>(layout, engines)}};
    plan::Planner const proposed(
        std::make_shared<plan::Planner::Answers const>(plan::Planner::Answers{std::move(proposals), {}, {}}),
        plan::Planner::Candidates());
    auto planner = proposed.with_candidates({fe::HeurMode_t::A});
    require(planner.error());
    parts.take(std::move(planner).value(), parts.checked, fe::Target::cpu());
    require(graph.build_plans());
}

template <class Run>
void report(char const* what, int rounds, Run const& run) {
    constexpr int kRuns = 1000;
    std::vector<double> times;
    for (int round = 0; round <= rounds; ++round) {
        double const begin = bench::elapsed_seconds();
        for (int i = 0; i < kRuns; ++i) run();
        if (round > 0) times.push_back(1e9 * (bench::elapsed_seconds() - begin) / kRuns);
    }
    std::ranges::sort(times);
    std::printf("  %-28s %8.1f %8.1f\n", what, times.front(), times[times.size() / 2]);
}

void measure(bool is_backward, int rounds) {
    fe::graph::Graph graph;
    bench::describe(graph, is_backward, "graph");
    plan_nothing(graph);
    auto const uids = graph.get_variant_pack_uids_sorted();
    constexpr std::int64_t kUids = 36;
    constexpr std::size_t kBytes = std::size_t{16} << 20;  // more than the largest tensor
    alignas(16) static std::byte workspace[64];
    static bench::UntouchedMemory const memory(kBytes * kUids);
    std::unordered_map<std::int64_t, void*> exact, large;
    for (std::int64_t uid = 0; uid < kUids; ++uid) {
        large[uid] = static_cast<std::byte*>(memory.data()) + static_cast<std::size_t>(uid) * kBytes;
    }
    std::vector<void*> sorted;
    for (std::int64_t const uid : uids) sorted.push_back(exact[uid] = large[uid]);
    std::printf("%s, %zu tensors%20s %8s\n", is_backward ? "backward" : "forward", uids.size(), "least", "median");
    report("map", rounds, [&] { require(graph.execute(nullptr, exact, workspace)); });
    report("map with other uids", rounds, [&] { require(graph.execute(nullptr, large, workspace)); });
    report("pointers in order", rounds,
           [&] { require(graph.execute(nullptr, sorted.data(), static_cast<int>(sorted.size()), workspace)); });
}

}  // namespace

int main(int count, char** arguments) {
    int const rounds = count > 1 ? std::max(1, std::atoi(arguments[1])) : 300;
    for (bool const is_backward : {false, true}) measure(is_backward, rounds);
    return 0;
}
