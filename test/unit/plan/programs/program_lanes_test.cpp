// The workspaces of the steps of a program's lanes, with engines that note where they were sent.
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "expand/expand.h"
#include "plan/planner.h"
#include "support/catch.h"
#include "support/program_graphs.h"

using namespace cudnn_frontend;
using namespace cudnn_frontend::plan;

namespace {

// A step's region, from the start of the program's workspace.
struct Region {
    std::int64_t begin, bytes;

    friend bool operator==(Region const&, Region const&) = default;
};

struct Notes {
    void const* workspace = nullptr;
    std::vector<Region> regions;
};

class Noting final : public Executable {
   public:
    Noting(std::int64_t workspace, Notes& notes) : workspace_(workspace), notes_(notes) {}

    std::int64_t workspace_size() const override { return workspace_; }
    cudnn_frontend::error_t launch(Launch const& launch) const override {
        auto const begin =
            static_cast<std::byte const*>(launch.workspace) - static_cast<std::byte const*>(notes_.workspace);
        notes_.regions.push_back({begin, workspace_});
        return {};
    }
    Result<std::string> serialize() const override { return std::string(); }

   private:
    std::int64_t workspace_;
    Notes& notes_;
};

class NotingEngine final : public Engine {
   public:
    NotingEngine(std::int64_t workspace, Notes& notes)
        : info_{.name = "noting", .workspace_bytes = workspace}, notes_(notes) {}

    EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<Executable const>> build() override {
        return std::shared_ptr<Executable const>(std::make_shared<Noting>(info_.workspace_bytes, notes_));
    }

   private:
    EngineInfo info_;
    Notes& notes_;
};

constexpr std::int64_t kMasked = 300, kUnmasked = 100;  // bytes

class NotingBackend final : public Backend {
   public:
    Backends const alone{this};
    mutable Notes notes;

    char const* name() const override { return "noting"; }
    bool serves(Target const&) const override { return true; }
    Result<std::shared_ptr<Proposal const>> propose(PlanningInput const& input) const override {
        auto const op_graph = expand::expand(input.graph, {});
        if (op_graph.is_bad()) return op_graph.error();
        auto layout = std::make_shared<PackLayout const>(make_pack_layout(input.graph.spec(), op_graph.value()));
        bool const is_masked = nodes::attention_fields(input.graph.spec().nodes.front())->right_bound.has_value();
        return std::make_shared<Proposal const>(
            std::move(layout), Engines{std::make_shared<NotingEngine>(is_masked ? kMasked : kUnmasked, notes)});
    }
    bool joins(Target const&) const override { return true; }
    Result<std::shared_ptr<Executable const>> join(rewrite::Joint const&, Target const&, Settings const&,
                                                   std::optional<std::string_view>) const override {
        return std::shared_ptr<Executable const>(std::make_shared<Noting>(0, notes));
    }
};

// Splits of 256 keys, and two under the diagonal.
test::ProgramGraph causal_graph() {
    test::ProgramGraph all(DataType_t::FLOAT);
    auto const q = all.input("Q", {1, 4, 2, 64});
    auto const k = all.input("K", {1, 2, 514, 64});
    auto const v = all.input("V", {1, 2, 514, 64});
    auto const options = graph::SDPA_attributes()
                             .set_name("attention")
                             .set_generate_stats(false)
                             .set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT)
                             .set_diagonal_band_right_bound(0);
    all.output(all.graph.sdpa(q, k, v, options)[0], {1, 4, 2, 64});
    return all;
}

}  // namespace

TEST_CASE("steps of different lanes have workspaces of their own, behind the scratch, which the plan's size counts") {
    NotingBackend const backend;
    test::ProgramGraph all = causal_graph();
    REQUIRE(all.graph.validate().get_message() == "");
    auto const graph = *nodes::validate(detail::Graph_access::snapshot(all.graph).spec).graph;
    Settings settings;
    settings.rewrites.listed = {Rewrite_t::FEW_QUERIES};
    auto const planner = Planner::propose({graph, Target::cpu(), settings}, backend.alone)
                             .value()
                             ->with_candidates({HeurMode_t::A})
                             .value();
    REQUIRE(planner->candidate(0).value().name == "program few_queries(2): noting noting");
    REQUIRE(planner->build_at(0).get_message() == "");
    auto const& program = *planner->candidate(0).value().program;
    std::int64_t scratch = 0;
    for (std::int64_t const bytes : program.scratch) scratch += bytes;
    std::int64_t const side = scratch + 256;  // the next multiple behind kUnmasked
    CHECK(planner->candidate(0).value().workspace_bytes == side + kMasked);
    CHECK(planner->plan()->workspace_size() == side + kMasked);

    std::vector<double> workspace(static_cast<std::size_t>(side + kMasked) / sizeof(double) + 2);
    backend.notes.workspace = workspace.data();
    auto const pack = all.pack();
    REQUIRE(planner->plan()->execute({nullptr, api::UserPack(Variant_pack::of(pack), 0), workspace.data()}).is_good());
    CHECK(backend.notes.regions == std::vector<Region>{{scratch, kUnmasked}, {side, kMasked}, {scratch, 0}});
}
