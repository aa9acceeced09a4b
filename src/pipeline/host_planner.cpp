#include "pipeline/host_planner.h"

#include "cpu/program.h"
#include "expand/expand.h"
#include "pipeline/plan_filters.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>

namespace cudnn_frontend::pipeline {
namespace {

error_t only_cudnn(char const* what) {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            std::string(what) + " exists for plans of cuDNN; this one is for the CPU"};
}

class HostPlan final : public Plan {
   public:
    HostPlan(std::shared_ptr<cpu::Program const> program, CandidateInfo info, PackLayout layout)
        : program_(std::move(program)),
          info_(std::move(info)),
          layout_(std::move(layout)),
          has_ragged_(std::ranges::any_of(layout_.slots, &Slot::is_ragged)) {}

    CandidateInfo const& info() const override { return info_; }
    std::int64_t workspace_size() const override { return program_->workspace_size(); }
    std::vector<Slot> const& slots() const override { return layout_.slots; }

    error_t execute(Run const& run) const override {
        PointerList pointers(slots().size());
        SDPA_GRAPH_TRY(resolve(run.pack, layout_, pointers.all()));
        SDPA_GRAPH_TRY(check_alignment(slots(), pointers.all()));
        SDPA_GRAPH_TRY(check_factors(slots(), pointers.all(), HostMemory::All));
        SDPA_GRAPH_TRY(check_overlap(slots(), pointers.all()));
        SDPA_GRAPH_TRY(check_workspace(*this, run));
        if (!has_ragged_) return program_->run(pointers.all(), run.workspace);
        return program_->run(pointers.all(), run.workspace, [&](std::vector<cpu::PackedSequences> const& sequences) {
            return check_ragged_overlap(slots(), pointers.all(), sequences);
        });
    }

    error_t populate_cuda_graph(Run const&, CUgraph_st*) const override { return only_cudnn("a CUDA graph"); }
    error_t update_cuda_graph(Run const&, CUgraph_st*) const override { return only_cudnn("a CUDA graph"); }
    error_t warm_up(cudnnHandle_t) const override { return {}; }

    Result<double> time(Run const& run) const override {
        SDPA_GRAPH_TRY(execute(run));  // touches the memory first
        auto const start = std::chrono::steady_clock::now();
        SDPA_GRAPH_TRY(execute(run));
        return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    }

    // The graph is all there is to a plan for the CPU.
    Result<std::string> serialize() const override { return std::string(); }

   private:
    std::shared_ptr<cpu::Program const> program_;
    CandidateInfo info_;
    PackLayout layout_;
    bool has_ragged_;
};

// What the copies of a planner share: the graph, and its plan once one of them built it.
struct HostWork {
    Target target;
    PackLayout layout;
    ir::OpGraph op_graph;
    CandidateInfo info;
    std::mutex mutex;
    std::shared_ptr<Plan const> plan;

    HostWork(PlanningInput const& input, ir::OpGraph graph)
        : target(input.target),
          layout(make_pack_layout(input.graph_id, input.graph.spec(), graph)),
          op_graph(std::move(graph)),
          info{.name = to_string(target.kind())} {}

    Result<Plan const*> build() {
        std::lock_guard const lock(mutex);
        if (!plan) {
            auto program = cpu::Program::plan(op_graph, target.threads());
            if (program.is_bad()) return program.error();
            plan = std::make_shared<HostPlan>(std::move(program).value(), info, layout);
        }
        return plan.get();
    }
};

// A CPU target has one candidate for any heuristics.
class HostPlanner final : public Planner {
   public:
    HostPlanner(std::shared_ptr<HostWork> work, std::int64_t candidates, Plan const* plan)
        : work_(std::move(work)), candidates_(candidates), plan_(plan) {}

    Result<std::shared_ptr<Planner>> with_candidates(std::vector<HeurMode_t> const&) const override {
        return std::shared_ptr<Planner>(std::make_shared<HostPlanner>(work_, 1, nullptr));
    }
    Result<std::shared_ptr<Planner>> with_engine(std::int64_t engine, KnobChoices const&) const override {
        if (engine != 0) return no_engine(engine);
        return std::shared_ptr<Planner>(std::make_shared<HostPlanner>(work_, 1, nullptr));
    }
    std::shared_ptr<Planner> copy() const override {
        return std::make_shared<HostPlanner>(work_, candidates_, plan_.load());
    }

    Result<std::int64_t> engine_count() const override { return std::int64_t{1}; }
    Result<std::vector<Knob>> knobs_of_engine(std::int64_t engine) const override {
        if (engine != 0) return no_engine(engine);
        return std::vector<Knob>();
    }

    std::int64_t candidate_count() const override { return candidates_; }
    Result<CandidateInfo> candidate(std::int64_t index) const override {
        SDPA_GRAPH_TRY(check_index(index));
        return work_->info;
    }

    error_t check_support(graph::PlanFilters const& filters) const override { return allowed_plan(filters).error(); }
    error_t build(BuildPlanPolicy_t, bool, graph::PlanFilters const& filters) override {
        return keep(allowed_plan(filters));
    }
    error_t build_at(std::int64_t index) override {
        SDPA_GRAPH_TRY(check_index(index));
        return keep(work_->build());
    }

    Plan const* plan() const override { return plan_; }
    Result<Plan const*> plan_at(std::int64_t index) const override {
        SDPA_GRAPH_TRY(check_index(index));
        Plan const* const plan = plan_.load();
        if (plan == nullptr) return not_built(index);
        return plan;
    }
    std::vector<Plan const*> built_plans() const override {
        return plan_ == nullptr ? std::vector<Plan const*>() : std::vector<Plan const*>{plan_};
    }
    void choose(Plan const& plan) override { plan_ = &plan; }

   private:
    // The candidate's plan, where there is one and the filters let it pass.
    Result<Plan const*> allowed_plan(graph::PlanFilters const& filters) const {
        SDPA_GRAPH_TRY(check_index(0));
        auto plan = work_->build();
        if (plan.is_bad()) return plan.error();
        std::string const reason = reason_to_bar(work_->info, plan.value()->workspace_size(), filters);
        if (reason.empty()) return plan;
        return error_t(error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED,
                       "the filters let no engine pass:\n  " + work_->info.name + " " + reason);
    }

    error_t keep(Result<Plan const*> const& plan) {
        if (plan.is_good()) plan_ = plan.value();
        return plan.error();
    }

    static error_t no_engine(std::int64_t engine) {
        return {error_code_t::INVALID_VALUE,
                "there is no engine " + std::to_string(engine) + "; CPU targets have engine 0 alone"};
    }

    std::shared_ptr<HostWork> work_;
    std::int64_t candidates_;
    std::atomic<Plan const*> plan_;
};

}  // namespace

// What chooses a GPU, or a part of one, asks for what no CPU target can give. Dynamic shapes and a kernel cache spare
// compilations, of which there are none here.
static error_t check_settings(graph::PlanSettings const& settings, Target const& target) {
    char const* const setter = settings.device       ? "set_device_properties()"
                               : settings.sm_version ? "set_sm_version()"
                               : settings.sm_count   ? "set_sm_count()"
                                                     : nullptr;
    if (setter == nullptr) return {};
    return {error_code_t::INVALID_VALUE, std::string(setter) +
                                             " is about a GPU, and Target::" + to_string(target.kind()) +
                                             "() has none; leave it out, or build for Target::cuda() or offline()"};
}

Result<std::shared_ptr<Planner>> make_host_planner(PlanningInput const& input) {
    SDPA_GRAPH_TRY(check_settings(input.settings, input.target));
    if (input.target.threads() < 0) {
        return error_t(error_code_t::INVALID_VALUE,
                       "Target::cpu(" + std::to_string(input.target.threads()) +
                           ") was asked for; needed is a number of threads of at least 1, or 0 for one on each core");
    }
    expand::Capabilities capabilities{.packed_scratch = true};
    bool const is_fused = input.target.kind() == Target::Kind::CPU;
    if (is_fused) capabilities.fused_attention = expand::Capabilities::Fused::Preferred;
    auto op_graph = expand::expand(input.graph, capabilities);
    if (op_graph.is_bad()) return op_graph.error();
    auto work = std::make_shared<HostWork>(input, std::move(op_graph).value());
    return std::shared_ptr<Planner>(std::make_shared<HostPlanner>(std::move(work), 0, nullptr));
}

}  // namespace cudnn_frontend::pipeline
