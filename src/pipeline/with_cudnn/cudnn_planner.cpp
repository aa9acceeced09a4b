#include "pipeline/cudnn_planner.h"

#include "cpu/threads.h"
#include "cudnn/library/backend_enums.h"
#include "expand/expand.h"
#include "pipeline/guard.h"
#include "pipeline/plan_filters.h"
#include "pipeline/with_cudnn/cudnn_work.h"
#include "pipeline/with_cudnn/graph_cache.h"
#include "pipeline/with_cudnn/lowering.h"

#include <atomic>
#include <thread>

namespace cudnn_frontend::pipeline {
namespace {

using Candidates = std::vector<std::shared_ptr<Candidate>>;

error_t no_plan(std::string const& text) { return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, text}; }

void append_line(std::string& text, std::string const& line) { text += "\n  " + line; }

class CudnnPlanner final : public Planner {
   public:
    CudnnPlanner(std::shared_ptr<CudnnWork const> work, Candidates candidates, CudnnPlan const* chosen = nullptr)
        : work_(std::move(work)), candidates_(std::move(candidates)), chosen_(chosen) {}

    Result<std::shared_ptr<Planner>> with_candidates(std::vector<HeurMode_t> const& modes) const override {
        if (!work_->graph) return needs_graph();
        auto const engines = work_->graph->engines(modes);
        if (engines.is_bad()) return engines.error();
        Candidates candidates;
        for (auto const& engine : engines.value()) candidates.push_back(std::make_shared<Candidate>(work_, engine));
        return std::shared_ptr<Planner>(std::make_shared<CudnnPlanner>(work_, std::move(candidates)));
    }

    // Adds to what is there, as existing programs expect who choose engine after engine.
    Result<std::shared_ptr<Planner>> with_engine(std::int64_t engine, KnobChoices const& knobs) const override {
        if (!work_->graph) return needs_graph();
        std::vector<cudnn::KnobChoice> choices;
        for (auto const& [knob, value] : knobs) {
            auto const type = cudnn::to_backend(knob);
            if (!type) return error_t(error_code_t::INVALID_VALUE, "cuDNN has no such knob");
            choices.push_back({*type, value});
        }
        auto config = cudnn::make_config(work_->graph->descriptor(), work_->graph->device(), engine, choices);
        if (config.is_bad()) return config.error();
        Candidates candidates = candidates_;
        candidates.push_back(std::make_shared<Candidate>(work_, std::make_shared<Engine>(std::move(config).value())));
        return std::shared_ptr<Planner>(std::make_shared<CudnnPlanner>(work_, std::move(candidates), chosen_.load()));
    }

    std::shared_ptr<Planner> copy() const override {
        return std::make_shared<CudnnPlanner>(work_, candidates_, chosen_.load());
    }

    Result<std::int64_t> engine_count() const override { return work_->graph ? work_->graph->engine_count() : 0; }

    Result<std::vector<Knob>> knobs_of_engine(std::int64_t engine) const override {
        if (!work_->graph) return needs_graph();
        auto const ranges = cudnn::knobs_of_engine(work_->graph->descriptor(), work_->graph->device(), engine);
        if (ranges.is_bad()) return ranges.error();
        std::vector<Knob> knobs;
        for (auto const& range : ranges.value()) {
            KnobType_t const type = cudnn::from_backend(range.knob);
            if (type != KnobType_t::NOT_SET) knobs.emplace_back(type, range.maximum, range.minimum, range.stride);
        }
        return knobs;
    }

    std::int64_t candidate_count() const override { return static_cast<std::int64_t>(candidates_.size()); }

    Result<CandidateInfo> candidate(std::int64_t index) const override {
        SDPA_GRAPH_TRY(check_index(index));
        return candidates_[static_cast<std::size_t>(index)]->info();
    }

    error_t check_support(graph::PlanFilters const& filters) const override {
        std::string reasons;
        for (auto const& candidate : candidates_) {
            std::string const reason = bar(*candidate, filters);
            if (reason.empty()) return {};
            append_line(reasons, candidate->info().name + " " + reason);
        }
        return no_plan(candidates_.empty() ? "there is no engine to build a plan with"
                                           : "the filters let no engine pass:" + reasons);
    }

    error_t build(BuildPlanPolicy_t policy, bool in_parallel, graph::PlanFilters const& filters) override {
        if (policy == BuildPlanPolicy_t::ALL) return build_all(in_parallel, filters);
        if (chosen_.load() != nullptr && bar(*chosen_.load(), filters).empty()) return {};
        std::string reasons;
        for (auto const& candidate : candidates_) {
            if (auto const reason = try_candidate(*candidate, filters); !reason.empty()) {
                append_line(reasons, candidate->info().name + " " + reason);
                continue;
            }
            chosen_ = candidate->plan();
            return {};
        }
        return no_plan_of_any("no engine gave a plan:" + reasons);
    }

    error_t build_at(std::int64_t index) override {
        SDPA_GRAPH_TRY(check_index(index));
        auto const plan = candidates_[static_cast<std::size_t>(index)]->build();
        if (plan.is_bad()) return no_plan(plan.error().err_msg);
        chosen_ = plan.value();
        return {};
    }

    Plan const* plan() const override { return chosen_.load(); }

    Result<Plan const*> plan_at(std::int64_t index) const override {
        SDPA_GRAPH_TRY(check_index(index));
        Plan const* const plan = candidates_[static_cast<std::size_t>(index)]->plan();
        if (plan != nullptr) return plan;
        return not_built(index);
    }

    std::vector<Plan const*> built_plans() const override {
        std::vector<Plan const*> plans;
        for (auto const& candidate : candidates_) {
            if (CudnnPlan const* const plan = candidate->plan()) plans.push_back(plan);
        }
        return plans;
    }

    void choose(Plan const& plan) override { chosen_ = static_cast<CudnnPlan const*>(&plan); }

   private:
    static error_t needs_graph() {
        return {error_code_t::HEURISTIC_QUERY_FAILED,
                "the plan was deserialized, which leaves nothing to ask heuristics about; call build_operation_graph() "
                "first"};
    }

    std::string bar(Candidate const& candidate, graph::PlanFilters const& filters) const {
        if (std::string reason = candidate.reason_to_refuse(); !reason.empty()) return reason;
        return reason_to_bar(candidate.info(), candidate.expected_workspace(), filters);
    }
    std::string bar(CudnnPlan const& plan, graph::PlanFilters const& filters) const {
        return reason_to_bar(plan.info(), plan.workspace_size(), filters);
    }

    // Builds where the filters allow it. Empty, or why there is no plan.
    std::string try_candidate(Candidate& candidate, graph::PlanFilters const& filters) const {
        if (std::string reason = bar(candidate, filters); !reason.empty()) return reason;
        auto const plan = candidate.build();
        return plan.is_bad() ? plan.error().err_msg : bar(*plan.value(), filters);
    }

    // The first that could be built, in the heuristics' order, is the one that runs.
    error_t build_all(bool in_parallel, graph::PlanFilters const& filters) {
        std::vector<std::string> failures(candidates_.size());
        int const threads = in_parallel ? static_cast<int>(std::max(1u, std::thread::hardware_concurrency())) : 1;
        cpu::parallel_for(threads, candidate_count(), [&](int, std::int64_t index) {
            auto const i = static_cast<std::size_t>(index);
            error_t tried = guarded([&]() -> error_t {
                failures[i] = try_candidate(*candidates_[i], filters);
                return {};
            });
            if (tried.is_bad()) failures[i] = std::move(tried.err_msg);
        });
        std::string reasons;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            if (failures[i].empty()) {
                chosen_ = candidates_[i]->plan();
                return {};
            }
            append_line(reasons, candidates_[i]->info().name + " " + failures[i]);
        }
        return no_plan_of_any("no engine gave a plan:" + reasons);
    }

    error_t no_plan_of_any(std::string const& text) const {
        if (work_->graph) GraphCache::of_process().forget(*work_->graph);
        return no_plan(text);
    }

    std::shared_ptr<CudnnWork const> work_;
    Candidates candidates_;
    std::atomic<CudnnPlan const*> chosen_;
};

}  // namespace

Result<std::shared_ptr<Planner>> make_cudnn_planner(PlanningInput const& input) {
    auto work = lower_for_cudnn(input);
    if (work.is_bad()) return work.error();
    return std::shared_ptr<Planner>(std::make_shared<CudnnPlanner>(std::move(work).value(), Candidates()));
}

Result<std::shared_ptr<Planner>> load_cudnn_plan(PlanningInput const& input, std::string const& plan) {
    auto loaded = load_for_cudnn(input, plan);
    if (loaded.is_bad()) return loaded.error();
    auto candidate = std::make_shared<Candidate>(loaded.value().plan);
    return std::shared_ptr<Planner>(std::make_shared<CudnnPlanner>(
        std::move(loaded.value().work), Candidates{std::move(candidate)}, loaded.value().plan.get()));
}

}  // namespace cudnn_frontend::pipeline
