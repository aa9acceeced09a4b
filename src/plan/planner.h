// The build stages behind Graph: the backends' proposals for a graph, candidates for a plan, and the plans built from
// the candidates.
#pragma once

#include "plan/candidate.h"
#include "plan/storage/stored_times.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cudnn_frontend::plan {

// The list of candidates is immutable. Building adds plans to candidates and never removes one, so that a plan lives as
// long as its planner. Many threads may build and read at once.
class Planner {
   public:
    // A backend that serves the target, and its proposal for the graph.
    struct Proposed {
        std::string backend;
        std::shared_ptr<Proposal const> proposal;
    };
    // A backend that has none, and the reason.
    struct Refusal {
        std::string backend;
        error_t error;
    };
    using Refusals = std::vector<Refusal>;
    using Proposals = std::vector<Proposed>;
    struct Answers {
        Proposals proposals;
        Refusals refusals;
        std::vector<std::string> remarks;  // on the order, and on programs: their expected costs, why one is missing
        TimedCandidates times;             // of the plan store
    };
    using Candidates = std::vector<std::shared_ptr<Candidate>>;

    // The candidates are of some modes, in which the backends of `without_engines` have no engine.
    Planner(std::shared_ptr<Answers const> answers, Candidates candidates, Refusals without_engines = {},
            Plan const* chosen = nullptr);

    // Collects the proposals of the backends that serve the target; no candidates yet. An error if there is none.
    static Result<std::shared_ptr<Planner>> propose(PlanningInput const& input, Backends const& backends);
    // The backends' answers to what the settings ask of engines: without programs, classes of shapes and groups.
    static Answers ask(PlanningInput const& input, Backends const& backends);
    // Loads the result of Plan::serialize() for the same graph: one candidate, built.
    static Result<std::shared_ptr<Planner>> load(PlanningInput const& input, Backends const& backends,
                                                 Stored const& stored);

    // A copy whose candidates get the times that the plan store has of them.
    std::shared_ptr<Planner> with_times(StoredTimes stored) const;
    // A copy with a candidate for each engine that the proposals have in these modes, of which there is at least one.
    Result<std::shared_ptr<Planner>> with_candidates(std::vector<HeurMode_t> const& modes) const;
    // A copy with one more candidate, chosen by hand: existing programs add engine after engine.
    Result<std::shared_ptr<Planner>> with_engine(std::int64_t engine, KnobChoices const& knobs) const;
    // A copy with the candidates that need the least workspace first.
    std::shared_ptr<Planner> by_workspace() const;
    // A copy with the candidates that pass the filters, of which there may be none.
    std::shared_ptr<Planner> only_within(Filters const& filters) const;
    // A copy in which programs that the filters bar have other engines for their attentions, so that they pass; the
    // planner itself where no program gains by it.
    static std::shared_ptr<Planner> with_parts_within(Filters const& filters, std::shared_ptr<Planner> planner);
    // Shares the plans, but has its own choice of one.
    std::shared_ptr<Planner> copy() const;

    // An estimate of the memory that goes with it, except what others hold in the process's cache too.
    std::size_t bytes() const;
    // Whether another planner was made of it, or it of another one.
    bool is_shared() const { return answers_.use_count() > 1; }

    // The layout against which packs of the graph are checked.
    PackLayout const& layout() const { return answers_->proposals.front().proposal->layout(); }

    // Engines by number: those of the first proposal, then those of the next.
    Result<std::int64_t> engine_count() const;
    Result<std::vector<Knob>> knobs_of_engine(std::int64_t engine) const;

    // The number of a candidate's engine; nothing for programs, which have none.
    Result<std::optional<std::int64_t>> number_of(std::int64_t index) const;

    std::int64_t candidate_count() const { return static_cast<std::int64_t>(candidates_.size()); }
    Result<EngineInfo> candidate(std::int64_t index) const;

    // Each candidate, with the reason against it, then each backend that has none. Without estimates.
    Plan_candidates candidates(Filters const& filters) const;
    // The look-up in the plan store that compiling a candidate came after.
    core::process::StoreMiss store_miss(std::int64_t index) const { return at(index).history().store_miss; }

    // The index of the first candidate that passes the filters, as far as is known before it is built.
    Result<std::int64_t> first_to_pass(Filters const& filters) const;
    error_t check_support(Filters const& filters) const { return first_to_pass(filters).error(); }
    error_t build(BuildPlanPolicy_t policy, bool in_parallel, Filters const& filters);
    error_t build_at(std::int64_t index);

    // The plan that execute() runs; null before one is built.
    Plan const* plan() const { return chosen_.load(); }
    Result<Plan const*> plan_at(std::int64_t index) const;
    std::vector<Plan const*> built_plans() const;
    // Records the times of these plans, which include the chosen plan, and chooses the fastest if it is clearly faster
    // than that one. Returns the times by candidates.
    TimedCandidates choose_by_times(std::vector<Plan const*> const& plans, std::vector<MeasuredTimes> const& times);

    // Whether the first run of the plan, which is the chosen one, gave right results.
    bool is_proven(Plan const& plan) const { return proven_.load() == &plan; }
    void prove(Plan const& plan) { proven_ = &plan; }
    // The wrong results of its first run; empty where there are none, or it is not known.
    std::string refutation_of(Plan const& plan) const;
    // Puts a plan aside whose first run gave wrong results, and chooses the next candidate that passes.
    error_t replace(Plan const& refuted, std::string const& wrong, Filters const& filters);

   private:
    // The proposal that has an engine, and the engine's number there.
    struct Numbered {
        std::string backend;
        std::shared_ptr<Proposal const> proposal;
        std::int64_t number;
    };
    Result<Numbered> find_engine(std::int64_t engine) const;

    // A candidate with the times that are known of it.
    std::shared_ptr<Candidate> candidate_of(Proposed const& proposed, std::shared_ptr<Engine> engine) const;
    // The candidate itself, or a barred program with other engines for its attentions.
    std::shared_ptr<Candidate> candidate_within(Filters const& filters, std::shared_ptr<Candidate> candidate) const;
    // The fastest by the times of the plan store, if it is clearly faster than the first one that passes, else that
    // one. Null where it was not timed.
    std::shared_ptr<Candidate> fastest(Filters const& filters) const;
    Candidate& at(std::int64_t index) const { return *candidates_[static_cast<std::size_t>(index)]; }
    error_t check_index(std::int64_t index) const;
    // Chooses the fastest candidate, or else the first, against which there is no reason; `reason_against` gets its
    // index.
    using ReasonAgainst = std::function<std::string(std::size_t)>;
    error_t choose_first(Filters const& filters, ReasonAgainst const& reason_against);
    error_t build_first(Filters const& filters);
    error_t build_all(bool in_parallel, Filters const& filters);
    error_t no_plan_of_any(std::string const& reasons, Filters const& filters) const;
    // A line for each, behind the reasons against candidates.
    std::string refusals_text() const;
    // The candidate that a higher limit of workspace would let pass first; empty if the limit bars none.
    std::string least_workspace(Filters filters) const;

    std::shared_ptr<Answers const> answers_;
    Candidates candidates_;
    Refusals without_engines_;
    std::atomic<Plan const*> chosen_, proven_ = nullptr;
};

// A backend that has no engine for a graph, in the list of candidates.
Plan_candidate described(Planner::Refusal const& refusal);

// Programs of several attentions as engines of a graph, for the planner: programs/programs.cpp has them. A program's
// attentions are planned in turn, each by a planner of its own.

// Puts programs before and after the proposals for the graph as it is, of which there is at least one. Returns remarks.
std::vector<std::string> add_programs(PlanningInput const& input, Backends const& backends,
                                      Planner::Proposals& proposals);

// Proposes a graph that no backend takes as given with its lengths and its Stats converted. Returns an error where
// there is nothing to convert, or no backend takes the program.
Result<Planner::Proposed> propose_converted(PlanningInput const& input, Backends const& backends);

// Whether a stored plan is of a program, and its engine.
bool is_program(Stored const& stored);
Result<Loaded> load_program(PlanningInput const& input, Backends const& backends, Stored const& stored);

}  // namespace cudnn_frontend::plan
