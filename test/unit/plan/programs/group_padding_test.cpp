// Parts of a group's attention that lie behind the last key of a sequence, on an engine that leaves their rows
// unwritten, as cuDNN's do.
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "cpu/cpu_backend.h"
#include "plan/planner.h"
#include "support/catch.h"
#include "support/group_graph.h"

#include <cstring>

using namespace cudnn_frontend;
using Error = cudnn_frontend::error_t;
using sdpa_graph::Group_way;
using test::RankPart;
using test::WholeAttention;

namespace {

// The CPU's attention over one sequence. Without a key within its length the results keep what was in their memory.
class Leaving final : public plan::Executable {
   public:
    Leaving(std::shared_ptr<plan::Executable const> executable, std::size_t length)
        : executable_(std::move(executable)), length_(length) {}

    std::int64_t workspace_size() const override { return executable_->workspace_size(); }
    Result<std::string> serialize() const override { return executable_->serialize(); }
    Error launch(plan::Launch const& launch) const override {
        std::int32_t keys = 0;
        std::memcpy(&keys, launch.pointers[length_], sizeof keys);
        return keys > 0 ? executable_->launch(launch) : Error();
    }

   private:
    std::shared_ptr<plan::Executable const> executable_;
    std::size_t length_;  // the slot of seq_len_kv
};

class LeavingEngine final : public plan::Engine {
   public:
    LeavingEngine(std::shared_ptr<plan::Engine> engine, std::size_t length)
        : engine_(std::move(engine)), length_(length) {}

    plan::EngineInfo const& info() const override { return engine_->info(); }
    Result<std::shared_ptr<plan::Executable const>> build() override {
        auto built = engine_->build();
        if (built.is_bad()) return built;
        return std::shared_ptr<plan::Executable const>(std::make_shared<Leaving>(built.value(), length_));
    }

   private:
    std::shared_ptr<plan::Engine> engine_;
    std::size_t length_;
};

class LeavingBackend final : public plan::Backend {
   public:
    plan::Backends const alone{this};

    char const* name() const override { return "leaving"; }
    bool serves(Target const&) const override { return true; }
    bool joins(Target const&) const override { return true; }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
        auto const proposal = cpu::backend().propose(input);
        if (proposal.is_bad()) return proposal;
        nodes::GraphSpec const& graph = input.graph.spec();
        nodes::TensorSpec const* const length = graph.tensor(graph.nodes.front(), nodes::attention::Port::SeqLenKv);
        plan::PackLayout const& layout = proposal.value()->layout();
        auto engine = proposal.value()->engines({HeurMode_t::A}).value().front();
        engine = std::make_shared<LeavingEngine>(std::move(engine), *layout.slot_of(*length->uid));
        return std::make_shared<plan::Proposal const>(std::make_shared<plan::PackLayout const>(layout),
                                                      plan::Engines{std::move(engine)});
    }
    Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, Target const& target,
                                                         plan::Settings const& settings,
                                                         std::optional<std::string_view> stored) const override {
        return cpu::backend().join(joint, target, settings, stored);
    }
};

constexpr std::int64_t kSink = 50;

using Numbers = std::map<std::int64_t, std::vector<float>>;

std::string run(RankPart& part, plan::Backends const& backends, group::Task const& task) {
    Error error = part.graph.validate();
    if (error.is_bad()) return error.get_message();
    auto const graph = nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(part.graph).spec).graph;
    plan::Settings settings;
    settings.group = std::make_shared<group::Task const>(task);
    auto const proposed = plan::Planner::propose({*graph, Target::cpu(1), settings}, backends);
    if (proposed.is_bad()) return proposed.error().get_message();
    auto const planner = proposed.value()->with_candidates({HeurMode_t::A});
    if (planner.is_bad()) return planner.error().get_message();
    error = planner.value()->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {});
    if (error.is_bad()) return error.get_message();
    plan::Plan const& plan = *planner.value()->plan();
    std::map<std::int64_t, void*> pack;
    for (auto& [uid, numbers] : part.memory) pack[uid] = numbers.data();
    std::vector<double> workspace(static_cast<std::size_t>(plan.workspace_size()) / sizeof(double) + 1);
    return plan.execute({nullptr, api::UserPack(Variant_pack::of(pack), 0), workspace.data()}).get_message();
}

// The memory of all ranks after a run on a backend.
std::vector<Numbers> run_on(plan::Backends const& backends, WholeAttention const& whole,
                            sdpa_graph::Layout const& layout, Group_way way, bool has_sink) {
    auto const members = test::threads_group(layout.ranks());
    std::vector<Numbers> memory(members.size());
    std::vector<std::string> errors(members.size());
    test::on_all_ranks(layout.ranks(), [&](int rank) {
        auto const index = static_cast<std::size_t>(rank);
        RankPart part(whole, layout, rank, [&](graph::SDPA_attributes& options) {
            auto const sink = std::make_shared<graph::Tensor_attributes>();
            sink->set_dim({1, whole.heads, 1, 1}).set_stride({whole.heads, 1, 1, 1}).set_uid(kSink);
            if (has_sink) options.set_sink_token(sink);
        });
        if (has_sink) part.memory[kSink] = {0.5f, -1.0f, 2.0f, 0.25f};
        errors[index] =
            run(part, backends, {sdpa_graph::detail::Group_access::transport(members[index]), layout, layout, way});
        memory[index] = part.memory;
    });
    for (std::string const& error : errors) REQUIRE(error == "");
    return memory;
}

plan::Backends const kCpu{&cpu::backend()};
sdpa_graph::Layout const kLayout = sdpa_graph::Layout::head_tail(24, 3);
// Tokens 16 to 19, the second half of rank 1's, see no key, though most of them are queries; the last tokens are
// neither.
WholeAttention const kWhole{.length = 19, .length_of_keys = 9, .window = 3};

}  // namespace

TEST_CASE("rows of parts behind a sequence's last key are written, whatever the engine leaves") {
    LeavingBackend const leaving;
    WholeAttention whole = kWhole;
    whole.is_backward = GENERATE(false, true);
    whole.window = GENERATE(1, 3);  // in a window of 1 a ring's chunks have one part each
    auto const way = GENERATE(Group_way::GATHER, Group_way::RING);
    CHECK(run_on(leaving.alone, whole, kLayout, way, false) == run_on(kCpu, whole, kLayout, way, false));
}

TEST_CASE("rows without keys have the sink's log-sum-exp, whatever the engine leaves") {
    LeavingBackend const leaving;
    auto const results = run_on(leaving.alone, kWhole, kLayout, Group_way::GATHER, true);
    CHECK(results == run_on(kCpu, kWhole, kLayout, Group_way::GATHER, true));
    std::vector<float> const& stats = results[1].at(RankPart::Stats);
    CHECK(std::vector(stats.begin() + 4, stats.begin() + 8) == std::vector(4, 0.5f));
}
