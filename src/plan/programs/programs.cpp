// The programs of a graph among its candidates.
#include "core/data_type.h"
#include "core/dims.h"
#include "core/process/logging.h"
#include "plan/planner.h"
#include "plan/programs/backend_costs.h"
#include "plan/programs/program_engine.h"
#include "plan/programs/program_executable.h"
#include "plan/programs/program_proposal.h"
#include "plan/shape_class.h"
#include "rewrite/offers.h"
#include "rewrite/rewrites/rewrites.h"

#include <cudnn_frontend/logging.h>

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

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
PackLayout layout_as_given(PackLayout layout, rewrite::Attention const& given) {
    using namespace rewrite::attention;
    for (int const port : {SeqLenQ, SeqLenKv, Stats}) {
        if (!given.has(port)) continue;
        nodes::TensorSpec const& tensor = *given.tensor(port);
        auto const number = tensor.uid ? layout.slot_of(*tensor.uid) : std::nullopt;
        if (!number || layout.slots[*number].is_ragged()) continue;
        Slot& slot = layout.slots[*number];
        slot.element_size = slot.alignment = core::size_of(tensor.data_type);
        slot.span = core::span_of(tensor.dim, tensor.stride).value_or(0) * slot.element_size;
        slot.stride = tensor.stride;
    }
    return layout;
}

}  // namespace

std::vector<std::string> add_programs(PlanningInput const& input, Backends const& backends,
                                      Planner::Proposals& proposals) {
    Settings const& settings = input.settings;
    BackendCosts const costs(input.target, settings, backends);
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
    auto const& graph = rewrite::first_attend(program.value()).graph;
    auto const settings = settings_of_parts(input.settings);
    auto const planner = Planner::propose({*graph, input.target, settings}, backends);
    if (planner.is_bad()) return planner.error();
    return propose_alone(std::move(program).value(), layout_as_given(planner.value()->layout(), *attention), input,
                         backends);
}

bool is_program(Stored const& stored) { return stored.engine.starts_with(ProgramEngine::kPrefix); }

// Programs of a class and of a rank have the layout of packs that was made with them.
static Result<std::shared_ptr<PackLayout const>> layout_of(PlanningInput const& input, rewrite::Program const& program,
                                                           Backends const& backends) {
    bool const is_of_rank = !program.agreement.empty();
    if (is_of_rank || program.name == rewrite::kNameOfClasses) {
        auto layout = layout_of_class(input);
        if (layout.is_bad()) return layout.error();
        return std::make_shared<PackLayout const>(std::move(layout).value());
    }
    auto const planner = Planner::propose(input, backends);
    if (planner.is_bad()) return planner.error();
    return std::make_shared<PackLayout const>(planner.value()->layout());
}

Result<Loaded> load_program(PlanningInput const& input, Backends const& backends, Stored const& stored) {
    // A group runs programs alone: a plan of an engine is of another one.
    auto read = is_program(stored) ? read_stored_program(stored.bytes) : StoredProgram{stored.engine, {}, {}, {}};
    if (read.is_bad()) return read.error();
    auto program = stored_program(input, read.value().program);
    if (program.is_bad()) return program.error();
    KeptInput as_given(input);
    as_given.settings = settings_of_parts(input.settings);
    auto const layout = layout_of(as_given.input(), program.value(), backends);
    if (layout.is_bad()) return layout.error();
    auto engine =
        ProgramEngine::load(std::move(program).value(), input, *layout.value(), backends, std::move(read).value());
    if (engine.is_bad()) return engine.error();
    auto proposal =
        std::make_shared<ProgramProposal const>(layout.value(), std::make_shared<KeptInput const>(std::move(as_given)),
                                                backends, std::vector<rewrite::Program>());
    return Loaded{std::move(proposal), std::move(engine).value()};
}

}  // namespace cudnn_frontend::plan
