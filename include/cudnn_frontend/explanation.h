// Graph::explain(): whether a graph has a plan for a target, the reason against each candidate, and the nearest graphs
// that have a plan.
#pragma once

#include "advice.h"

#include <cstdint>

namespace cudnn_frontend {

// RUNS: execute() runs its plan. BUILT: it has a plan. MAY_BE_BUILT: nothing is known against it. NOT_USABLE: a filter,
// a quirk of cuDNN or a failed build is against it. REFUSED: the backend has no engine for the graph.
enum class CandidateState { RUNS, BUILT, MAY_BE_BUILT, NOT_USABLE, REFUSED };

// How a plan came to be. COMPILED: the plan store did not have it, or there is none. STORED: from the plan store.
// KNOWN: nothing had to be compiled, since this process has it, or since the engine has no code of its own.
enum class PlanOrigin { NOT_BUILT, COMPILED, STORED, KNOWN };

SDPA_GRAPH_API char const* to_string(CandidateState state);
SDPA_GRAPH_API char const* to_string(PlanOrigin origin);

// An engine or a program that may run the graph; or a backend that has none.
struct Plan_candidate {
    std::string backend;  // such as cuDNN; "programs" for rewrites of the graph
    std::string name;     // as Graph::get_plan_name() has it; empty where the backend refused
    CandidateState state = CandidateState::MAY_BE_BUILT;
    std::string reason;  // of NOT_USABLE and REFUSED
    std::string rule;    // the first one that the backend says is broken; empty if there is none
    std::int64_t workspace_bytes = 0;
    double estimated_us = 0.0;  // expected by explain(); 0 where no figures are known
    // The times of a run by autotune() or choose_plan_by_times(), of this process or one that wrote them to the plan
    // store: the median, the least and the greatest. 0 where it was not timed.
    double measured_us = 0.0, measured_least_us = 0.0, measured_greatest_us = 0.0;
    std::int64_t measured_runs = 0;
    PlanOrigin origin = PlanOrigin::NOT_BUILT;
    std::string store_miss;  // the reason for which the plan store did not have what was compiled; empty without one
};

struct SDPA_GRAPH_API Plan_candidates {
    std::vector<Plan_candidate> candidates;  // best first, then the backends that refused
    std::vector<std::string> remarks;        // expected times of programs, why one is missing, why it was built anew

    std::string to_text() const;  // that of Graph::print_candidates()
};

// A graph that has a plan, and the way there.
struct Nearest_graph {
    std::vector<std::string> changes;  // instructions, in this order
    std::string target;                // such as h100
    std::string plan;
    std::string graph;  // as JSON, docs/json.md
    // Whether the plan was compiled. Else its rules and limits hold and the target has an engine for it: after the
    // first graph that was found, time is kept for others in place of their code.
    bool was_built = true;
};

struct SDPA_GRAPH_API Explanation {
    std::string graph;   // its name
    std::string target;  // such as cpu or h100
    Report findings;     // broken rules
    Advice advice;
    Report limits;  // the properties of a valid graph that the target's backends do not support
    Plan_candidates candidates;
    error_t refusal;  // of the build
    std::string plan;
    std::int64_t workspace_bytes = 0;
    bool was_searched = false;
    std::vector<Nearest_graph> nearest;  // the cheapest change first

    bool has_plan() const { return refusal.is_good(); }
    std::string to_text() const;
    std::string to_json() const;
    std::string to_html() const;  // tables, for notebooks
};

SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, Explanation const& explanation);

}  // namespace cudnn_frontend
