#include "cudnn/planning/proposal.h"

#include "cudnn/library/backend_enums.h"
#include "cudnn/planning/shared_graph.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

error_t needs_graph() {
    return {error_code_t::HEURISTIC_QUERY_FAILED,
            "the plan was deserialized, so there is no operation graph to query heuristics for; call "
            "build_operation_graph() first"};
}

error_t only_others() {
    return {error_code_t::HEURISTIC_QUERY_FAILED,
            "HeurMode_t::OPENSOURCE asks for engines that are not cuDNN's, and nothing else has one for this graph on "
            "this target; add HeurMode_t::A"};
}

}  // namespace

CudnnProposal::CudnnProposal(std::shared_ptr<LoweredWork const> work)
    : plan::Proposal(work->context->layout, {}), work_(std::move(work)) {}

Result<plan::Engines> CudnnProposal::engines(std::vector<HeurMode_t> const& modes) const {
    std::lock_guard const lock(mutex_);
    auto const known = std::ranges::find(found_, modes, &FoundEngines::modes);
    if (known != found_.end()) return known->engines;
    std::vector<HeurMode_t> ours = modes;
    std::erase(ours, HeurMode_t::OPENSOURCE);
    if (ours.empty()) return only_others();
    auto const shared = work_->graph->engines(ours);
    if (shared.is_bad()) return shared.error();
    plan::Engines engines;
    for (auto const& engine : shared.value()) engines.push_back(std::make_shared<CudnnEngine>(work_, engine));
    found_.push_back({modes, engines});
    return engines;
}

Result<std::int64_t> CudnnProposal::engine_count() const { return work_->graph->engine_count(); }

Result<std::vector<Knob>> CudnnProposal::knobs_of_engine(std::int64_t number) const {
    auto const ranges = cudnn::knobs_of_engine(work_->graph->descriptor(), work_->graph->device(), number);
    if (ranges.is_bad()) return ranges.error();
    std::vector<Knob> knobs;
    for (auto const& range : ranges.value()) {
        KnobType_t const type = from_backend(range.knob);
        if (type != KnobType_t::NOT_SET) knobs.emplace_back(type, range.maximum, range.minimum, range.stride);
    }
    return knobs;
}

Result<std::shared_ptr<plan::Engine>> CudnnProposal::engine(std::int64_t number, plan::KnobChoices const& knobs) const {
    std::vector<KnobChoice> choices;
    for (auto const& [knob, value] : knobs) {
        auto const type = to_backend(knob);
        if (!type) return error_t(error_code_t::INVALID_VALUE, "cuDNN has no such knob");
        choices.push_back({*type, value});
    }
    auto config = make_config(work_->graph->descriptor(), work_->graph->device(), number, choices);
    if (config.is_bad()) return config.error();
    auto shared = work_->graph->engine(std::move(config).value());
    return std::shared_ptr<plan::Engine>(std::make_shared<CudnnEngine>(work_, std::move(shared)));
}

void CudnnProposal::forget() const { work_->graph->forget(); }

LoadedProposal::LoadedProposal(std::shared_ptr<plan::PackLayout const> layout)
    : plan::Proposal(std::move(layout), {}) {}

Result<plan::Engines> LoadedProposal::engines(std::vector<HeurMode_t> const&) const { return needs_graph(); }

Result<std::vector<Knob>> LoadedProposal::knobs_of_engine(std::int64_t) const { return needs_graph(); }

Result<std::shared_ptr<plan::Engine>> LoadedProposal::engine(std::int64_t, plan::KnobChoices const&) const {
    return needs_graph();
}

}  // namespace cudnn_frontend::cudnn
