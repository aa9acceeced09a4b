#include "plan/planner.h"

#include "core/guard.h"
#include "core/threads.h"
#include "plan/candidate.h"
#include "plan/programs/program_proposal.h"
#include "plan/shape_class.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cudnn_frontend::plan {
namespace {

error_t no_plan(std::string const& text) { return {error_code_t::GRAPH_EXECUTION_PLAN_CREATION_FAILED, text}; }

void append_line(std::string& text, std::string const& line) { text += "\n  " + line; }

error_t no_backend(Target const& target) {
    if (target.kind() == Target::Kind::STREAM) {
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                "a stream as target runs graphs of one attention or of one neighborhood attention; "
                "Target::cuda(handle) runs other graphs, with cuDNN"};
    }
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            std::string("this build of the library has no backend for the target ") + to_string(target.kind())};
}

error_t no_engine_of(Stored const& stored, Target const& target) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the stored plan is of the engine '" + stored.engine +
                                                   "', which no backend has for such a graph on the target " +
                                                   to_string(target.kind())};
}

error_t no_batch_invariance(Stored const& stored) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the stored plan is of the engine '" + stored.engine +
                                                   "', which does not keep a row's bits the same in every batch, as "
                                                   "set_batch_invariant(true) asks"};
}

// The first error, with those of further backends behind it.
error_t to_error(Planner::Refusals const& refusals) {
    error_t all;
    for (auto const& [backend, error] : refusals) {
        if (all.is_good()) all = error;
        else all.err_msg += "\n" + backend + ": " + error.err_msg;
    }
    return all;
}

std::string reason_to_bar(EngineInfo const& engine, Filters const& filters) {
    return reason_to_bar(engine, engine.workspace_bytes, filters);
}

std::string reason_to_bar(Candidate const& candidate, Filters const& filters) {
    if (std::string reason = candidate.reason_against(); !reason.empty()) return reason;
    return reason_to_bar(candidate.info(), filters);
}

std::string reason_to_bar(Plan const& plan, Filters const& filters) {
    return reason_to_bar(plan.info(), plan.workspace_size(), filters);
}

// Builds the candidate if the filters allow it. Empty, or the reason why there is no plan.
std::string try_candidate(Candidate& candidate, Filters const& filters) {
    if (std::string reason = reason_to_bar(candidate, filters); !reason.empty()) return reason;
    auto const plan = candidate.build();
    return plan.is_bad() ? plan.error().err_msg : reason_to_bar(*plan.value(), filters);
}

}  // namespace

Planner::Planner(std::shared_ptr<Answers const> answers, Candidates candidates, Refusals without_engines,
                 Plan const* chosen)
    : answers_(std::move(answers)),
      candidates_(std::move(candidates)),
      without_engines_(std::move(without_engines)),
      chosen_(chosen) {}

static std::shared_ptr<Planner> planner_of_proposal(Planner::Proposed proposed) {
    Planner::Answers answers;
    answers.proposals.push_back(std::move(proposed));
    return std::make_shared<Planner>(std::make_shared<Planner::Answers const>(std::move(answers)),
                                     Planner::Candidates());
}

static bool has_engine_that_passes(Proposal const& proposal, Filters const& filters) {
    auto const engines = proposal.engines({HeurMode_t::A});
    auto const passes = [&](auto const& engine) { return reason_to_bar(engine->info(), filters).empty(); };
    return engines.is_good() && std::ranges::any_of(engines.value(), passes);
}

static error_t refusal_by_all(Planner::Refusals const& refusals, Target const& target) {
    return refusals.empty() ? no_backend(target) : to_error(refusals);
}

static error_t no_engine_for_all_shapes(Planner::Refusals const& refusals, Target const& target) {
    error_t all = refusal_by_all(refusals, target);
    bool const can_run = std::ranges::any_of(
        refusals, [](auto const& each) { return each.error.code == error_code_t::HEURISTIC_QUERY_FAILED; });
    if (can_run) all.code = error_code_t::HEURISTIC_QUERY_FAILED;
    return all;
}

static Result<Planner::Proposed> propose_for_all_shapes(PlanningInput const& input, Backends const& backends) {
    Planner::Refusals refusals;
    for (Backend const* const backend : backends) {
        if (!backend->serves(input.target)) continue;
        auto proposal = backend->propose_for_all_shapes(input);
        if (proposal.is_bad()) {
            refusals.push_back({backend->name(), proposal.error()});
        } else if (!has_engine_that_passes(*proposal.value(), input.settings.filters)) {
            refusals.push_back({backend->name(), {error_code_t::GRAPH_NOT_SUPPORTED, "the filters bar its engines"}});
        } else {
            return Planner::Proposed{backend->name(), std::move(proposal).value()};
        }
    }
    return no_engine_for_all_shapes(refusals, input.target);
}

static error_t no_plan_for_all_shapes(error_t const& refusal) {
    return {refusal.code,
            "no engine whose code serves all shapes runs the graph, as the shape policy ALL_SHAPES asks:\n" +
                refusal.err_msg + "\nset_shape_policy(ShapePolicy_t::CLASSES) plans such a graph for its class"};
}

Planner::Answers Planner::ask(PlanningInput const& input, Backends const& backends) {
    Answers answers;
    bool const is_invariant = input.settings.batch_invariant;
    for (Backend const* const backend : backends) {
        if (!backend->serves(input.target) || (!is_invariant && !backend->takes(input.graph))) continue;
        auto proposal = is_invariant ? backend->propose_batch_invariant(input) : backend->propose(input);
        if (proposal.is_good()) answers.proposals.push_back({backend->name(), std::move(proposal).value()});
        else answers.refusals.push_back({backend->name(), proposal.error()});
    }
    return answers;
}

static Result<std::shared_ptr<Planner>> propose_batch_invariant(PlanningInput const& input, Backends const& backends) {
    Planner::Answers answers = Planner::ask(input, backends);
    if (answers.proposals.empty()) return refusal_by_all(answers.refusals, input.target);
    auto const leave_out = [&](char const* what) {
        answers.remarks.push_back(
            std::string(what) +
            " no effect: with set_batch_invariant(true) the graph is planned for its exact shape, "
            "as it is given");
    };
    auto const policy = shape_policy_of(input.target, input.settings);
    if (policy == ShapePolicy_t::CLASSES) leave_out("classes of shapes have");
    if (policy == ShapePolicy_t::ALL_SHAPES) leave_out("the shape policy ALL_SHAPES has");
    if (input.settings.rewrites.listed) leave_out("the list of rewrites has");
    return std::make_shared<Planner>(std::make_shared<Planner::Answers const>(std::move(answers)),
                                     Planner::Candidates());
}

// Engines with an advantage come before all others that are there.
static void put_first(Planner::Answers& answers) {
    auto const has_advantage = [](Planner::Proposed const& proposed) {
        return !proposed.proposal->advantage().empty();
    };
    auto& proposals = answers.proposals;
    if (std::ranges::none_of(proposals, has_advantage) || std::ranges::all_of(proposals, has_advantage)) return;
    std::stable_partition(proposals.begin(), proposals.end(), has_advantage);
    answers.remarks.push_back(
        "engines of the backend '" + proposals.front().backend +
        "' come first, which are faster for such graphs: " + proposals.front().proposal->advantage());
}

// Programs that the caller listed come before all engines, and the others behind those with an advantage.
static void put_in_order(PlanningInput const& input, Backends const& backends, Planner::Answers& answers) {
    bool const are_listed = input.settings.rewrites.listed.has_value();
    if (are_listed) put_first(answers);
    std::vector<std::string> remarks = add_programs(input, backends, answers.proposals);
    std::ranges::move(remarks, std::back_inserter(answers.remarks));
    if (!are_listed) put_first(answers);
}

Result<std::shared_ptr<Planner>> Planner::propose(PlanningInput const& input, Backends const& backends) {
    if (input.settings.group) {
        auto proposed = propose_in_group(input, backends);
        return proposed.is_good() ? Result(planner_of_proposal(std::move(proposed).value())) : proposed.error();
    }
    if (input.settings.batch_invariant) return propose_batch_invariant(input, backends);
    std::vector<std::string> remarks;
    auto const policy = shape_policy_of(input.target, input.settings);
    if (may_be_for_all_shapes(input.target, input.settings)) {
        auto proposed = propose_for_all_shapes(input, backends);
        if (proposed.is_good()) return planner_of_proposal(std::move(proposed).value());
        if (policy == ShapePolicy_t::ALL_SHAPES) return no_plan_for_all_shapes(proposed.error());
    }
    if (policy == ShapePolicy_t::CLASSES) {
        auto proposed = propose_class(input, backends);
        if (proposed.is_good()) return planner_of_proposal(std::move(proposed).value());
        remarks.push_back("planned for its exact shape: " + proposed.error().err_msg);
    }
    Answers answers = ask(input, backends);
    answers.remarks = std::move(remarks);
    if (!answers.proposals.empty()) {
        put_in_order(input, backends, answers);
    } else if (auto converted = propose_converted(input, backends); converted.is_good()) {
        answers.proposals.push_back(std::move(converted).value());
    } else {
        return refusal_by_all(answers.refusals, input.target);
    }
    return std::make_shared<Planner>(std::make_shared<Answers const>(std::move(answers)), Candidates());
}

static Result<std::shared_ptr<Planner>> planner_of(char const* backend, Loaded loaded) {
    auto candidate = std::make_shared<Candidate>(backend, loaded.proposal, std::move(loaded.engine));
    auto answers =
        std::make_shared<Planner::Answers const>(Planner::Answers{{{backend, std::move(loaded.proposal)}}, {}, {}});
    auto planner = std::make_shared<Planner>(std::move(answers), Planner::Candidates{std::move(candidate)});
    SDPA_GRAPH_TRY(planner->build_at(0));
    return planner;
}

Result<std::shared_ptr<Planner>> Planner::load(PlanningInput const& input, Backends const& backends,
                                               Stored const& stored) {
    if (is_program(stored) || input.settings.group) {
        if (input.settings.batch_invariant) return no_batch_invariance(stored);
        auto loaded = load_program(input, backends, stored);
        return loaded.is_good() ? planner_of("programs", std::move(loaded).value()) : loaded.error();
    }
    Refusals refusals;
    bool is_served = false;
    for (Backend const* const backend : backends) {
        if (!backend->serves(input.target)) continue;
        is_served = is_served || backend->takes(input.graph);
        if (!backend->may_have_engine(stored.engine)) continue;
        bool const is_barred = input.settings.batch_invariant && backend->propose_batch_invariant(input).is_bad();
        auto loaded = is_barred ? Result<Loaded>(no_batch_invariance(stored)) : backend->load(input, stored);
        if (loaded.is_good()) return planner_of(backend->name(), std::move(loaded).value());
        refusals.push_back({backend->name(), loaded.error()});
    }
    if (!is_served) return no_backend(input.target);
    return refusals.empty() ? no_engine_of(stored, input.target) : to_error(refusals);
}

std::shared_ptr<Planner> Planner::with_times(StoredTimes stored) const {
    Answers answers = *answers_;
    answers.times = std::move(stored.candidates);
    if (!stored.remark.empty()) answers.remarks.push_back(std::move(stored.remark));
    return std::make_shared<Planner>(std::make_shared<Answers const>(std::move(answers)), candidates_, without_engines_,
                                     chosen_.load());
}

std::shared_ptr<Candidate> Planner::candidate_of(Proposed const& proposed, std::shared_ptr<Engine> engine) const {
    auto candidate = std::make_shared<Candidate>(proposed.backend, proposed.proposal, std::move(engine));
    for (auto const& [backend, name, times] : answers_->times) {
        if (backend == proposed.backend && name == candidate->info().name) candidate->note_times(times);
    }
    return candidate;
}

Result<std::shared_ptr<Planner>> Planner::with_candidates(std::vector<HeurMode_t> const& modes) const {
    Candidates candidates;
    Refusals without_engines;
    for (Proposed const& proposed : answers_->proposals) {
        auto engines = proposed.proposal->engines(modes);
        if (engines.is_bad()) without_engines.push_back({proposed.backend, engines.error()});
        if (engines.is_bad()) continue;
        candidates.reserve(candidates.size() + engines.value().size());
        for (auto& engine : engines.value()) candidates.push_back(candidate_of(proposed, std::move(engine)));
    }
    if (candidates.empty() && !without_engines.empty()) {
        without_engines.insert(without_engines.end(), answers_->refusals.begin(), answers_->refusals.end());
        return to_error(without_engines);
    }
    return std::make_shared<Planner>(answers_, std::move(candidates), std::move(without_engines));
}

Result<std::shared_ptr<Planner>> Planner::with_engine(std::int64_t engine, KnobChoices const& knobs) const {
    auto const found = find_engine(engine);
    if (found.is_bad()) return found.error();
    auto chosen = found.value().proposal->engine(found.value().number, knobs);
    if (chosen.is_bad()) return chosen.error();
    Candidates candidates = candidates_;
    candidates.push_back(candidate_of({found.value().backend, found.value().proposal}, std::move(chosen).value()));
    return std::make_shared<Planner>(answers_, std::move(candidates), without_engines_, chosen_.load());
}

std::shared_ptr<Planner> Planner::copy() const {
    return std::make_shared<Planner>(answers_, candidates_, without_engines_, chosen_.load());
}

std::size_t Planner::bytes() const {
    constexpr std::size_t kOfCandidate = 1024;  // with its plan
    std::size_t bytes = sizeof(Planner) + sizeof(Answers) + candidates_.size() * kOfCandidate;
    for (Proposed const& proposed : answers_->proposals) bytes += sizeof(Proposed) + proposed.proposal->bytes();
    for (Refusal const& refusal : answers_->refusals) bytes += sizeof(Refusal) + refusal.error.err_msg.size();
    for (std::string const& remark : answers_->remarks) bytes += sizeof(std::string) + remark.size();
    return bytes;
}

std::shared_ptr<Planner> Planner::by_workspace() const {
    Candidates candidates = candidates_;
    std::ranges::stable_sort(candidates, {}, [](auto const& candidate) { return candidate->info().workspace_bytes; });
    return std::make_shared<Planner>(answers_, std::move(candidates), without_engines_);
}

std::shared_ptr<Planner> Planner::only_within(Filters const& filters) const {
    Candidates passing;
    std::ranges::copy_if(candidates_, std::back_inserter(passing),
                         [&](auto const& candidate) { return reason_to_bar(*candidate, filters).empty(); });
    return std::make_shared<Planner>(answers_, std::move(passing), without_engines_);
}

std::shared_ptr<Candidate> Planner::candidate_within(Filters const& filters,
                                                     std::shared_ptr<Candidate> candidate) const {
    if (reason_to_bar(candidate->known_info(), filters).empty()) return candidate;
    auto engine = candidate->engine().with_parts_within(filters);
    bool const passes = engine != nullptr && reason_to_bar(engine->info(), filters).empty();
    return passes ? candidate_of({candidate->backend(), candidate->proposal()}, std::move(engine)) : candidate;
}

std::shared_ptr<Planner> Planner::with_parts_within(Filters const& filters, std::shared_ptr<Planner> planner) {
    Candidates candidates;
    for (auto const& candidate : planner->candidates_) {
        candidates.push_back(planner->candidate_within(filters, candidate));
    }
    if (candidates == planner->candidates_) return planner;
    Plan const* const chosen = planner->plan();
    bool const is_kept = std::ranges::any_of(candidates, [&](auto const& each) { return each->plan() == chosen; });
    return std::make_shared<Planner>(planner->answers_, std::move(candidates), planner->without_engines_,
                                     is_kept ? chosen : nullptr);
}

Result<std::int64_t> Planner::engine_count() const {
    std::int64_t all = 0;
    for (auto const& [backend, proposal] : answers_->proposals) {
        auto const count = proposal->engine_count();
        if (count.is_bad()) return count.error();
        all += count.value();
    }
    return all;
}

Result<Planner::Numbered> Planner::find_engine(std::int64_t engine) const {
    std::int64_t before = 0;  // the engines of earlier proposals
    for (auto const& [backend, proposal] : answers_->proposals) {
        auto const count = proposal->engine_count();
        if (count.is_bad()) return count.error();
        if (engine >= before && engine - before < count.value()) return Numbered{backend, proposal, engine - before};
        before += count.value();
    }
    std::string const numbers = before == 0   ? "no engines by number"
                                : before == 1 ? "engine 0 alone"
                                              : "the engines 0 to " + std::to_string(before - 1);
    return error_t(error_code_t::INVALID_VALUE,
                   "there is no engine " + std::to_string(engine) + "; this target has " + numbers);
}

Result<std::optional<std::int64_t>> Planner::number_of(std::int64_t index) const {
    SDPA_GRAPH_TRY(check_index(index));
    Candidate const& candidate = at(index);
    std::int64_t before = 0;
    for (auto const& [backend, proposal] : answers_->proposals) {
        if (proposal == candidate.proposal()) {
            auto const own = proposal->number_of(candidate.info());
            return own ? std::optional(before + *own) : std::nullopt;
        }
        auto const count = proposal->engine_count();
        if (count.is_bad()) return count.error();
        before += count.value();
    }
    return std::optional<std::int64_t>();
}

Result<std::vector<Knob>> Planner::knobs_of_engine(std::int64_t engine) const {
    auto const found = find_engine(engine);
    if (found.is_bad()) return found.error();
    return found.value().proposal->knobs_of_engine(found.value().number);
}

Result<EngineInfo> Planner::candidate(std::int64_t index) const {
    SDPA_GRAPH_TRY(check_index(index));
    return at(index).known_info();
}

Result<std::int64_t> Planner::first_to_pass(Filters const& filters) const {
    std::string reasons;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
        std::string const reason = reason_to_bar(*candidates_[i], filters);
        if (reason.empty()) return static_cast<std::int64_t>(i);
        append_line(reasons, candidates_[i]->info().name + " " + reason);
    }
    return no_plan(candidates_.empty()
                       ? "there is no engine to build a plan with"
                       : "the filters let no engine pass:" + reasons + refusals_text() + least_workspace(filters));
}

std::string Planner::least_workspace(Filters filters) const {
    auto const limit = std::exchange(filters.largest_workspace, {});
    EngineInfo least;
    for (auto const& candidate : candidates_) {
        EngineInfo info = candidate->known_info();
        bool const is_too_large = limit && info.workspace_bytes > *limit;
        if (!is_too_large || !reason_to_bar(*candidate, filters).empty()) continue;
        if (least.name.empty() || info.workspace_bytes < least.workspace_bytes) least = std::move(info);
    }
    if (least.name.empty()) return {};
    return "\nthe least workspace is " + std::to_string(least.workspace_bytes) + " bytes, by " + least.name +
           "; a limit of so many bytes lets it pass";
}

static Plan_candidate described(Candidate const& candidate, Plan const* running, Filters const& filters) {
    EngineInfo const info = candidate.known_info();
    Candidate::History const history = candidate.history();
    Plan const* const built = candidate.plan();
    Plan_candidate result{.backend = candidate.backend(), .name = info.name};
    result.reason = built == nullptr ? reason_to_bar(candidate, filters) : reason_to_bar(*built, filters);
    if (!history.refutation.empty()) result.reason = candidate.reason_against();
    if (result.reason.empty() && history.failure.is_bad()) result.reason = history.failure.err_msg;
    if (!result.reason.empty()) result.state = CandidateState::NOT_USABLE;
    else if (built != nullptr) result.state = built == running ? CandidateState::RUNS : CandidateState::BUILT;
    result.rule = history.failure.where.rule;
    result.workspace_bytes = info.workspace_bytes;
    result.measured_us = history.times.median;
    result.measured_least_us = history.times.least;
    result.measured_greatest_us = history.times.greatest;
    result.measured_runs = history.times.runs;
    result.origin = history.origin;
    result.store_miss = history.store_miss.reason;
    return result;
}

Plan_candidates Planner::candidates(Filters const& filters) const {
    Plan_candidates all;
    for (auto const& candidate : candidates_) all.candidates.push_back(described(*candidate, plan(), filters));
    all.remarks = answers_->remarks;
    for (Refusals const* const refusals : {&answers_->refusals, &without_engines_}) {
        for (Refusal const& refusal : *refusals) all.candidates.push_back(described(refusal));
    }
    return all;
}

Plan_candidate described(Planner::Refusal const& refusal) {
    Plan_candidate result{.backend = refusal.backend, .state = CandidateState::REFUSED};
    result.reason = refusal.error.err_msg;
    result.rule = refusal.error.where.rule;
    return result;
}

TimedCandidates Planner::choose_by_times(std::vector<Plan const*> const& plans,
                                         std::vector<MeasuredTimes> const& times) {
    TimedCandidates all;
    for (auto const& candidate : candidates_) {
        auto const timed = std::ranges::find(plans, candidate->plan());
        if (timed == plans.end()) continue;
        MeasuredTimes const& own = times[static_cast<std::size_t>(timed - plans.begin())];
        candidate->note_times(own);
        all.push_back({candidate->backend(), candidate->info().name, own});
    }
    auto const usual = static_cast<std::size_t>(std::ranges::find(plans, plan()) - plans.begin());
    chosen_ = plans[plan_to_prefer(times, usual)];
    return all;
}

std::shared_ptr<Candidate> Planner::fastest(Filters const& filters) const {
    if (answers_->times.empty()) return nullptr;
    Candidates timed;
    std::vector<MeasuredTimes> times;
    for (auto const& candidate : candidates_) {
        if (!reason_to_bar(*candidate, filters).empty()) continue;
        MeasuredTimes const own = candidate->history().times;
        if (own.runs == 0 && timed.empty()) break;  // nothing is known of the one that heuristics prefer
        if (own.runs == 0) continue;
        timed.push_back(candidate);
        times.push_back(own);
    }
    return timed.empty() ? nullptr : timed[plan_to_prefer(times, 0)];
}

std::string Planner::refutation_of(Plan const& plan) const {
    for (auto const& candidate : candidates_) {
        if (candidate->plan() == &plan) return candidate->history().refutation;
    }
    return {};
}

error_t Planner::replace(Plan const& refuted, std::string const& wrong, Filters const& filters) {
    for (auto const& candidate : candidates_) {
        if (candidate->plan() == &refuted) candidate->refute(wrong);
    }
    return build_first(filters);
}

std::string Planner::refusals_text() const {
    std::string text;
    for (Refusals const* const refusals : {&answers_->refusals, &without_engines_}) {
        for (auto const& [backend, error] : *refusals) append_line(text, backend + " refused: " + error.err_msg);
    }
    return text;
}

error_t Planner::build(BuildPlanPolicy_t policy, bool in_parallel, Filters const& filters) {
    Plan const* const chosen = plan();
    bool const is_built = chosen != nullptr && reason_to_bar(*chosen, filters).empty();
    if (is_built && policy != BuildPlanPolicy_t::ALL) return {};
    return policy == BuildPlanPolicy_t::ALL ? build_all(in_parallel, filters) : build_first(filters);
}

error_t Planner::choose_first(Filters const& filters, ReasonAgainst const& reason_against) {
    std::string reasons;
    auto const becomes_plan = [&](std::size_t index) {
        std::string const reason = reason_against(index);
        if (reason.empty()) chosen_ = candidates_[index]->plan();
        else append_line(reasons, candidates_[index]->info().name + " " + reason);
        return reason.empty();
    };
    auto const fastest_one = std::ranges::find(candidates_, fastest(filters));
    auto const first = static_cast<std::size_t>(fastest_one - candidates_.begin());
    if (fastest_one != candidates_.end() && becomes_plan(first)) return {};
    for (std::size_t index = 0; index < candidates_.size(); ++index) {
        if (index != first && becomes_plan(index)) return {};
    }
    return no_plan_of_any(reasons, filters);
}

error_t Planner::build_first(Filters const& filters) {
    return choose_first(filters, [&](std::size_t index) { return try_candidate(*candidates_[index], filters); });
}

error_t Planner::build_all(bool in_parallel, Filters const& filters) {
    std::vector<std::string> failures(candidates_.size());
    int const threads = in_parallel ? core::usable_cpus() : 1;
    core::parallel_for(threads, candidate_count(), [&](int, std::int64_t index) {
        std::string& failure = failures[static_cast<std::size_t>(index)];
        error_t tried = core::guarded([&]() -> error_t {
            failure = try_candidate(at(index), filters);
            return {};
        });
        if (tried.is_bad()) failure = std::move(tried.err_msg);
    });
    return choose_first(filters, [&](std::size_t index) { return failures[index]; });
}

error_t Planner::no_plan_of_any(std::string const& reasons, Filters const& filters) const {
    SDPA_GRAPH_TRY(check_support(filters));
    for (auto const& [backend, proposal] : answers_->proposals) proposal->forget();
    return no_plan("no candidate could be built:" + reasons + refusals_text() + least_workspace(filters));
}

error_t Planner::build_at(std::int64_t index) {
    SDPA_GRAPH_TRY(check_index(index));
    auto const plan = at(index).build();
    if (plan.is_bad()) return no_plan(plan.error().err_msg);
    chosen_ = plan.value();
    return {};
}

Result<Plan const*> Planner::plan_at(std::int64_t index) const {
    SDPA_GRAPH_TRY(check_index(index));
    if (Plan const* const plan = at(index).plan()) return plan;
    return error_t(error_code_t::GRAPH_EXECUTION_FAILED, "plan " + std::to_string(index) +
                                                             " is not built; call build_plan_at_index(" +
                                                             std::to_string(index) + ") first");
}

std::vector<Plan const*> Planner::built_plans() const {
    std::vector<Plan const*> plans;
    for (auto const& candidate : candidates_) {
        if (Plan const* const plan = candidate->plan()) plans.push_back(plan);
    }
    return plans;
}

error_t Planner::check_index(std::int64_t index) const {
    if (index >= 0 && index < candidate_count()) return {};
    return {error_code_t::GRAPH_EXECUTION_FAILED, "there is no plan " + std::to_string(index) +
                                                      "; get_execution_plan_count() is " +
                                                      std::to_string(candidate_count())};
}

}  // namespace cudnn_frontend::plan
