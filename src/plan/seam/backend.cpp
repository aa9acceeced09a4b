#include "plan/seam/backend.h"

#include <algorithm>
#include <chrono>

namespace cudnn_frontend::plan {
namespace {

error_t no_recording() {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "a CUDA graph holds only plans that run on a GPU; this plan does not"};
}

// Measures work that is done when its call returns.
class HostStopwatch final : public Stopwatch {
   public:
    error_t start() override {
        begin_ = Clock::now();
        return {};
    }
    Result<double> stop() override { return std::chrono::duration<double, std::micro>(Clock::now() - begin_).count(); }

   private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin_;
};

}  // namespace

error_t Executable::capture(Launch const&, Recording) const { return no_recording(); }
error_t Executable::update(Launch const&, Recording) const { return no_recording(); }
Result<std::unique_ptr<RecordedSteps>> Executable::steps_of(Recording) const { return no_recording(); }
error_t Executable::record_run(Queue, Recording, std::function<error_t()> const&) const { return no_recording(); }

Result<std::shared_ptr<Executable const>> Executable::resized(TensorShapes) const {
    return error_t(
        error_code_t::GRAPH_NOT_SUPPORTED,
        "the plan's engine serves the shapes of its graph alone, or the plan was stored and loaded; describe the "
        "graph, "
        "and call set_shape_policy(ShapePolicy_t::ALL_SHAPES) before it is built, or build a graph of these shapes");
}

Result<std::unique_ptr<Stopwatch>> Executable::stopwatch(Queue) const {
    return std::unique_ptr<Stopwatch>(std::make_unique<HostStopwatch>());
}

std::size_t Proposal::bytes() const {
    std::size_t bytes = sizeof(Proposal) + sizeof(PackLayout) + heap_bytes(*layout_);
    for (auto const& engine : engines_) bytes += engine->bytes();
    return bytes;
}

std::optional<std::int64_t> Proposal::number_of(EngineInfo const& info) const {
    if (info.number) return info.number;
    auto const found =
        std::ranges::find_if(engines_, [&](auto const& engine) { return engine->info().name == info.name; });
    if (found == engines_.end()) return std::nullopt;
    return found - engines_.begin();
}

Result<std::vector<Knob>> Proposal::knobs_of_engine(std::int64_t) const { return std::vector<Knob>(); }

Result<std::shared_ptr<Engine>> Proposal::engine(std::int64_t number, KnobChoices const&) const {
    return engines_[static_cast<std::size_t>(number)];
}

Result<std::shared_ptr<Proposal const>> Backend::propose_for_all_shapes(PlanningInput const&) const {
    return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                   std::string("the code of the backend '") + name() + "' depends on the shape");
}

Result<std::shared_ptr<Proposal const>> Backend::propose_batch_invariant(PlanningInput const&) const {
    return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                   std::string("no engine of the backend '") + name() +
                       "' keeps a row's bits the same in every batch, as set_batch_invariant(true) asks");
}

Result<std::shared_ptr<Executable const>> Backend::join(rewrite::Joint const&, Target const&, Settings const&,
                                                        std::optional<std::string_view>) const {
    return error_t(error_code_t::GRAPH_NOT_SUPPORTED, std::string(name()) + " does not join partial results");
}

Result<Loaded> Backend::load(PlanningInput const& input, Stored const& stored) const {
    auto proposal = propose(input);
    if (proposal.is_bad()) return proposal.error();
    auto const engines = proposal.value()->engines({HeurMode_t::A});
    if (engines.is_bad()) return engines.error();
    auto const is_stored = [&](std::shared_ptr<Engine> const& engine) { return engine->info().name == stored.engine; };
    auto const found = std::ranges::find_if(engines.value(), is_stored);
    if (found != engines.value().end()) return Loaded{std::move(proposal).value(), *found};
    return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                   "the stored plan is of the engine '" + stored.engine + "', which " + name() + " does not have");
}

}  // namespace cudnn_frontend::plan
