#include "api/graph/search.h"

#include "api/backends.h"
#include "edits/edits.h"
#include "json/graph_json.h"
#include "nodes/validation/validate.h"
#include "plan/planner.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cudnn_frontend::api {
namespace {

constexpr std::size_t kMostNodes = 64;  // of a graph of which every edit is a copy
constexpr std::size_t kMostNearest = 4, kMostFixes = 8, kMostWithoutFaults = 2, kMostChildren = 12;
constexpr std::size_t kMostNodesOfFix = 400;  // of all graphs that a fix is searched in, together: about 20 ms
constexpr int kCostOfFault = 5;               // the expected cost of fixing one

// Fewer are better: first of broken rules, then of limits of the target.
struct RefusalCounts {
    std::size_t rules = 0, limits = 0;

    bool any() const { return rules + limits > 0; }
    friend auto operator<=>(RefusalCounts const&, RefusalCounts const&) = default;
};

// A graph on the way.
struct State {
    nodes::GraphSpec graph;
    std::vector<std::string> changes = {};
    std::string kinds = {};  // of the changes
    int cost = 0;
    RefusalCounts faults = {};

    int priority() const { return cost + kCostOfFault * static_cast<int>(faults.rules + faults.limits); }
};

// How sure it is that a graph works: rules and limits hold; there is an engine, too; its plan was compiled.
enum class Proof { Rules, Engine, Plan };

// The plan's name, nothing where there is none. It goes past the graphs that the process keeps: these are the user's.
std::optional<std::string> plan_of(nodes::GraphSpec const& graph, Target const& target, plan::Settings const& settings,
                                   Proof proof) {
    if (proof == Proof::Rules) return std::string();
    auto const validation = nodes::validate(graph);
    if (!validation.graph) return std::nullopt;
    auto const proposed = plan::Planner::propose({*validation.graph, target, settings}, backends());
    if (proposed.is_bad()) return std::nullopt;
    auto const all = proposed.value()->with_candidates(plan::default_modes());
    if (all.is_bad()) return std::nullopt;
    auto const planner = plan::Planner::with_parts_within(settings.filters, all.value());
    if (proof == Proof::Engine) {
        auto const first = planner->first_to_pass(settings.filters);
        return first.is_bad() ? std::nullopt : std::optional(planner->candidate(first.value()).value().name);
    }
    if (planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, settings.filters).is_bad()) return std::nullopt;
    return planner->plan()->info().name;
}

// Each tensor with a fault counts.
std::size_t count_of(Report const& report) {
    std::size_t count = 0;
    for (Finding const& finding : report.findings()) count += 1 + finding.others.size();
    return count;
}

RefusalCounts faults_of(nodes::GraphSpec const& graph, Target const& target, plan::Settings const& settings) {
    auto const validation = nodes::validate(graph);
    if (!validation.graph) return {count_of(validation.report), 0};
    std::optional<std::size_t> least;  // of the backend that is nearest to planning it
    for (plan::Backend const* const backend : backends()) {
        if (!backend->serves(target) || !backend->takes(*validation.graph)) continue;
        Report const limits = backend->limits({*validation.graph, target, settings});
        // A refusal without a rule says nothing of how near the graph is.
        auto const has_no_rule = [](Finding const& finding) { return finding.where.rule.empty(); };
        if (std::ranges::any_of(limits.findings(), has_no_rule)) continue;
        least = std::min(least.value_or(count_of(limits)), count_of(limits));
    }
    return {0, least.value_or(0)};
}

// Where a search ends if it has not found enough: after a time, or after so many nodes of the graphs that it checked.
struct Limit {
    std::optional<std::chrono::milliseconds> time = {};
    std::optional<std::size_t> nodes = {};
};

class Searcher {
   public:
    Searcher(Search const& search, Proof proof, std::size_t most, Limit const& limit)
        : search_(search), proof_(proof), most_(most), limit_(limit) {}

    std::vector<Nearest_graph> run() {
        State start{search_.graph};
        start.faults = check(start.graph, search_.target);
        bool const is_valid = start.faults.rules == 0;
        has_faults_ = start.faults.any();
        push(std::move(start));
        while (!frontier_.empty() && !is_over()) {
            auto const next = frontier_.extract(frontier_.begin());
            visit(next.mapped());
        }
        // Other targets do not help a graph with faults of its own, unless nothing else does.
        bool const helps = valid_ && (is_valid || found_.empty());
        if (helps && proof_ == Proof::Plan) try_targets(*valid_);
        return std::move(found_);
    }

   private:
    // Whether the share of the time is over.
    bool is_later_than(int share) const {
        return limit_.time && std::chrono::steady_clock::now() > begin_ + *limit_.time / share;
    }

    // Half of the time suffices where something was found.
    bool is_over() const {
        bool const is_checked = limit_.nodes && checked_nodes_ >= *limit_.nodes;
        return found_.size() >= most_ || is_checked || is_later_than(found_.empty() ? 1 : 2);
    }

    RefusalCounts check(nodes::GraphSpec const& graph, Target const& target) {
        checked_nodes_ += graph.nodes.size();
        return faults_of(graph, target, search_.settings);
    }

    // Compiling takes most of the time. The first graph that works is compiled, and so are others in the first quarter
    // of the time, and all where the graph itself has engines that do not compile.
    Proof proof_now() const {
        if (!has_faults_) return proof_;
        return proof_ == Proof::Plan && !found_.empty() && is_later_than(4) ? Proof::Engine : proof_;
    }

    // Whether the state only adds changes to a graph that was found, or costs more than the first one with more
    // changes.
    bool is_beyond_found(State const& state) const {
        auto const has = [&](std::string const& change) {
            return std::ranges::find(state.changes, change) != state.changes.end();
        };
        bool const is_worse =
            !found_.empty() && state.cost > least_cost_ && state.changes.size() > found_.front().changes.size();
        return is_worse || std::ranges::any_of(found_, [&](Nearest_graph const& nearest) {
                   return std::ranges::all_of(nearest.changes, has);
               });
    }

    // Graphs that several ways lead to are visited once.
    void push(State state) {
        if (!seen_.insert(json::write_graph(state.graph)).second) return;
        int const priority = state.priority();
        frontier_.emplace(priority, std::move(state));
    }

    void visit(State const& state) {
        if (kinds_.contains(state.kinds) || is_beyond_found(state)) return;
        if (state.faults.rules == 0 && !valid_) valid_ = state;
        bool const is_new = !state.changes.empty() && !state.faults.any();
        if (is_new && accept(state, search_.target_name, search_.target)) {
            kinds_.insert(state.kinds);
            if (found_.size() == 1) least_cost_ = state.cost;
            return;
        }
        std::size_t const most = state.faults.any() ? kMostFixes : kMostWithoutFaults;
        if (state.changes.size() < most) expand(state);
    }

    // With faults only edits count that leave fewer. Without any, engines refuse the graph for a reason that they do
    // not say, and every edit may help.
    void expand(State const& state) {
        std::vector<State> children;
        for (edits::Edit& edit : edits::edits_of(state.graph)) {
            if (is_over()) break;
            RefusalCounts const faults = check(edit.graph, search_.target);
            bool const is_better = state.faults.any() ? faults < state.faults : !faults.any();
            if (!is_better) continue;
            State child{std::move(edit.graph), state.changes, state.kinds + edit.kind + "\n", state.cost + edit.cost,
                        faults};
            child.changes.push_back(std::move(edit.text));
            children.push_back(std::move(child));
        }
        std::ranges::stable_sort(children, {}, &State::priority);
        if (state.faults.any() && children.size() > kMostChildren) children.resize(kMostChildren);
        for (State& child : children) push(std::move(child));
    }

    bool accept(State const& state, std::string const& target_name, Target const& target) {
        bool const is_quick = runs_on_host(target.kind());
        Proof const proof = is_quick ? proof_ : proof_now();
        auto plan = plan_of(state.graph, target, search_.settings, proof);
        if (!plan) return false;
        found_.push_back(
            {state.changes, target_name, std::move(*plan), json::write_graph(state.graph), proof == Proof::Plan});
        return true;
    }

    // GPUs of another kind, then the CPU.
    void try_targets(State const& valid) {
        auto const try_target = [&](std::string const& name, Target const& target, std::string const& change) {
            State state = valid;
            state.changes.push_back(change);
            if (!check(state.graph, target).any()) accept(state, name, target);
        };
        if (search_.target.kind() == Target::Kind::OFFLINE) {
            for (std::string const& name : DeviceProperties::names()) {
                if (name != search_.target_name && !is_over())
                    try_target(name, Target::offline(name), "plan it for another GPU, " + name);
            }
        }
        if (search_.target.kind() != Target::Kind::CPU)
            try_target("cpu", Target::cpu(), "run it on the CPU, Target::cpu()");
    }

    Search const& search_;
    Proof proof_;
    std::size_t most_;  // the graphs to find
    Limit limit_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::size_t checked_nodes_ = 0;
    std::multimap<int, State> frontier_;  // by priority
    std::set<std::string> seen_, kinds_;  // the kinds of what was found
    std::optional<State> valid_;          // the first one without broken rules
    std::vector<Nearest_graph> found_;
    int least_cost_ = 0;       // of what was found first
    bool has_faults_ = false;  // of the graph that is searched from
};

}  // namespace

std::vector<Nearest_graph> nearest_graphs(Search const& search, std::chrono::milliseconds const limit) {
    if (search.graph.nodes.size() > kMostNodes) return {};
    return Searcher(search, Proof::Plan, kMostNearest, {limit, {}}).run();
}

std::string cheapest_fix(Search const& search) {
    if (search.graph.nodes.size() > kMostNodes) return {};
    auto const found = Searcher(search, Proof::Rules, 1, {{}, kMostNodesOfFix}).run();
    std::string line;
    for (Nearest_graph const& nearest : found) {
        for (std::string const& change : nearest.changes) line += (line.empty() ? "" : "; ") + change;
    }
    return line;
}

}  // namespace cudnn_frontend::api
