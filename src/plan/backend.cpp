#include "plan/backend.h"

namespace cudnn_frontend::plan {
namespace {

error_t no_recording() {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "a CUDA graph takes plans that run on a GPU; this plan does not"};
}

}  // namespace

error_t Executable::capture(Launch const&, Recording) const { return no_recording(); }
error_t Executable::update(Launch const&, Recording) const { return no_recording(); }

Result<std::unique_ptr<Stopwatch>> Executable::stopwatch(Queue) const { return host_stopwatch(); }

error_t Proposal::check_number(std::int64_t number) const {
    if (number >= 0 && static_cast<std::size_t>(number) < engines_.size()) return {};
    std::string const last = std::to_string(engines_.size() - 1);
    return {error_code_t::INVALID_VALUE, "there is no engine " + std::to_string(number) + "; this target has " +
                                             (engines_.size() == 1 ? "engine 0 alone" : "the engines 0 to " + last)};
}

Result<std::vector<Knob>> Proposal::knobs_of_engine(std::int64_t number) const {
    SDPA_GRAPH_TRY(check_number(number));
    return std::vector<Knob>();
}

Result<std::shared_ptr<Engine>> Proposal::engine(std::int64_t number, KnobChoices const&) const {
    SDPA_GRAPH_TRY(check_number(number));
    return engines_[static_cast<std::size_t>(number)];
}

// For backends whose plans consist of nothing but the graph.
Result<Loaded> Backend::load(PlanningInput const& input, std::string_view) const {
    auto proposal = propose(input);
    if (proposal.is_bad()) return proposal.error();
    auto const engines = proposal.value()->engines({HeurMode_t::A});
    if (engines.is_bad()) return engines.error();
    return Loaded{std::move(proposal).value(), engines.value().front()};
}

}  // namespace cudnn_frontend::plan
