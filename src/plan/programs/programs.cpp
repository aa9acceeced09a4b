// The programs of a graph among its candidates.
#include "core/data_type.h"
#include "core/dims.h"
#include "core/process/logging.h"
#include "plan/planner.h"
#include "plan/programs/backend_costs.h"
#include "plan/programs/program_engine.h"
#include "plan/programs/program_executable.h"
#include "rewrite/converted.h"
#include "rewrite/offers.h"

#include <cudnn_frontend/logging.h>

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

// A graph with nothing left of what planning it refers to.
struct KeptInput {
    explicit KeptInput(PlanningInput const& input)
        : graph(input.graph), target(input.target), settings(input.settings) {}
    PlanningInput input() const { return {graph, target, settings}; }

    nodes::ValidatedGraph graph;
    Target target;
    Settings settings;
};

// Its engines are programs. They have no numbers, so that those of the graph's own engines stay what they are.
class ProgramProposal final : public Proposal {
   public:
    ProgramProposal(std::shared_ptr<PackLayout const> layout, std::shared_ptr<KeptInput const> input,
                    Backends const& backends, std::vector<rewrite::Program> programs)
        : Proposal(std::move(layout), {}),
          input_(std::move(input)),
          backends_(backends),
          programs_(std::move(programs)) {}

    Result<Engines> engines(std::vector<HeurMode_t> const& modes) const override;

   private:
    // Under a limit of workspace: the engine that needs the least for the same program, where that is another.
    std::shared_ptr<Engine> least_of(ProgramEngine const& engine) const;

    std::shared_ptr<KeptInput const> input_;
    Backends const& backends_;
    std::vector<rewrite::Program> programs_;
};

Result<Engines> ProgramProposal::engines(std::vector<HeurMode_t> const& modes) const {
    Engines engines, smaller;
    error_t refusals;
    for (rewrite::Program const& program : programs_) {
        auto engine = ProgramEngine::propose(program, input_->input(), layout(), backends_, modes);
        if (engine.is_good()) {
            if (auto least = least_of(*engine.value())) smaller.push_back(std::move(least));
            engines.push_back(std::move(engine).value());
        } else if (refusals.is_good()) {
            refusals = engine.error();
        }
    }
    if (engines.empty() && refusals.is_bad()) return refusals;
    engines.insert(engines.end(), smaller.begin(), smaller.end());
    return engines;
}

std::shared_ptr<Engine> ProgramProposal::least_of(ProgramEngine const& engine) const {
    return input_->settings.slices_for_workspace ? engine.with_least_workspace() : nullptr;
}

// Returns why no backend makes joints here, and no error where one does.
error_t obstacle_to_joints(Target const& target, Backends const& backends) {
    error_t obstacle(error_code_t::GRAPH_NOT_SUPPORTED, "no backend joins partial results");
    for (Backend const* const backend : backends) {
        if (!backend->joins(target)) continue;
        obstacle = backend->check_joints();
        if (obstacle.is_good()) break;
    }
    return obstacle;
}

// Leaves out programs whose joints no backend can make here, with a remark.
void keep_joinable(PlanningInput const& input, Backends const& backends, rewrite::Offers& offers) {
    if (std::ranges::none_of(offers.preferred, rewrite::has_joints) &&
        std::ranges::none_of(offers.spare, rewrite::has_joints)) {
        return;
    }
    error_t const obstacle = obstacle_to_joints(input.target, backends);
    if (obstacle.is_good()) return;
    for (auto* const programs : {&offers.preferred, &offers.spare}) std::erase_if(*programs, rewrite::has_joints);
    offers.remarks.push_back("programs that join partial results are left out: " + obstacle.err_msg);
}

void log(PlanningInput const& input, std::vector<std::string> const& remarks) {
    if (!isLoggingEnabled()) return;
    for (std::string const& remark : remarks) core::log_line("graph '" + input.graph.spec().name + "': " + remark);
}

// The layout for packs in which the converted tensors are as the caller has them.
std::shared_ptr<PackLayout const> layout_as_given(PackLayout layout, rewrite::Attention const& given) {
    using namespace rewrite::attention;
    for (int const port : {Seq_len_q, Seq_len_kv, Stats}) {
        if (!given.has(port)) continue;
        nodes::TensorSpec const& tensor = *given.tensor(port);
        auto const number = tensor.uid ? layout.slot_of(*tensor.uid) : std::nullopt;
        if (!number || layout.slots[*number].is_ragged()) continue;
        Slot& slot = layout.slots[*number];
        slot.element_size = slot.alignment = core::size_of(tensor.data_type);
        slot.span = core::span_of(tensor.dim, tensor.stride).value_or(0) * slot.element_size;
        slot.stride = tensor.stride;
    }
    return std::make_shared<PackLayout const>(std::move(layout));
}

}  // namespace

std::vector<std::string> add_programs(PlanningInput const& input, Backends const& backends,
                                      Planner::Proposals& proposals) {
    Settings const& settings = input.settings;
    Costs const costs(input.target, settings, backends);
    rewrite::Offers offers =
        rewrite::offers_for(input.graph, {settings.rewrites, settings.slices_for_workspace, costs});
    keep_joinable(input, backends, offers);
    log(input, offers.remarks);
    if (offers.preferred.empty() && offers.spare.empty()) return offers.remarks;
    auto const kept = std::make_shared<KeptInput const>(input);
    auto const layout = std::make_shared<PackLayout const>(proposals.front().proposal->layout());
    auto const proposal_of = [&](std::vector<rewrite::Program>& programs) {
        return Planner::Proposed{"programs",
                                 std::make_shared<ProgramProposal const>(layout, kept, backends, std::move(programs))};
    };
    if (!offers.preferred.empty()) proposals.insert(proposals.begin(), proposal_of(offers.preferred));
    if (!offers.spare.empty()) proposals.push_back(proposal_of(offers.spare));
    return offers.remarks;
}

Result<Planner::Proposed> propose_converted(PlanningInput const& input, Backends const& backends) {
    auto const attention = rewrite::Attention::of(input.graph);
    if (!attention) return error_t(error_code_t::GRAPH_NOT_SUPPORTED, "a graph of several nodes is not converted");
    auto program = rewrite::converted(*attention);
    if (program.is_bad()) return program.error();
    SDPA_GRAPH_TRY(obstacle_to_joints(input.target, backends));
    auto const step = std::ranges::find_if(
        program.value().steps, [](rewrite::Step const& each) { return std::holds_alternative<rewrite::Attend>(each); });
    Settings settings = input.settings;
    settings.rewrites = rewrite::no_rewrites();
    auto const planner = Planner::propose({*std::get<rewrite::Attend>(*step).graph, input.target, settings}, backends);
    if (planner.is_bad()) return planner.error();
    std::vector<rewrite::Program> programs;
    programs.push_back(std::move(program).value());
    return Planner::Proposed{"programs", std::make_shared<ProgramProposal const>(
                                             layout_as_given(planner.value()->layout(), *attention),
                                             std::make_shared<KeptInput const>(input), backends, std::move(programs))};
}

bool is_program(Stored const& stored) { return stored.engine.starts_with(ProgramEngine::kPrefix); }

Result<Loaded> load_program(PlanningInput const& input, Backends const& backends, Stored const& stored) {
    auto read = read_stored_program(stored.bytes);
    if (read.is_bad()) return read.error();
    auto program = rewrite::program_named(input.graph, read.value().program);
    if (program.is_bad()) return program.error();
    KeptInput as_given(input);
    as_given.settings.rewrites = rewrite::no_rewrites();
    auto const planner = Planner::propose(as_given.input(), backends);
    if (planner.is_bad()) return planner.error();
    auto const layout = std::make_shared<PackLayout const>(planner.value()->layout());
    auto engine = ProgramEngine::load(std::move(program).value(), input, *layout, backends, std::move(read).value());
    if (engine.is_bad()) return engine.error();
    auto proposal = std::make_shared<ProgramProposal const>(
        layout, std::make_shared<KeptInput const>(std::move(as_given)), backends, std::vector<rewrite::Program>());
    return Loaded{std::move(proposal), std::move(engine).value()};
}

}  // namespace cudnn_frontend::plan
