// Runs of plans of which it is not known yet whether their results are right: Graph::set_first_run_verification().
#include "api/graph/graph_impl.h"
#include "api/graph/pack_source.h"
#include "core/process/logging.h"
#include "core/text.h"
#include "json/graph_json.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"
#include "plan/storage/store_entry.h"

#include <cudnn_frontend/logging.h>
#include <cudnn_frontend/verification.h>

#include <algorithm>

namespace cudnn_frontend::graph {
namespace {

using core::text;
using plan::Plan;
using plan::StoreEntry;

constexpr char kRight[] = "right";

std::string numbers(std::vector<std::int64_t> const& all) {
    std::string list;
    for (std::int64_t const number : all) list += text(list.empty() ? "" : ", ", number);
    return "[" + list + "]";
}

// The results with wrong elements; empty if there is none.
std::string faults_of(Verification const& verification) {
    std::string all;
    for (Compared_result const& result : verification.results()) {
        if (result.wrong == 0) continue;
        all += text(all.empty() ? "" : "; ", result.name, " is wrong in ", result.wrong, " of ", result.elements,
                    " elements, most at ", numbers(result.worst_index), ": found ", result.got, ", expected ",
                    result.expected);
    }
    return all;
}

// A plan's place in the plan store, for the outcome of its first run on a GPU: its bytes are kRight, or the wrong
// results.
std::optional<StoreEntry> entry_of(nodes::GraphSpec const& graph, Plan const& plan) {
    auto const facts = plan.executable()->facts();
    if (facts.is_bad() || facts.value().device.empty()) return std::nullopt;
    return StoreEntry::of({plan::versioned_library() + ", outcomes of first runs"},
                          text(facts.value().device, "\n", facts.value().library_version, "\n", plan.info().name, "\n",
                               json::write_computation(graph)));
}

// Neither where the plan did not run before.
struct Outcome {
    std::string faults;
    bool is_right = false;
};

// The outcome in this process, or that in the plan store.
Outcome known_outcome(Graph::Impl const& graph, Plan const& plan) {
    if (std::string faults = graph.planner->refutation_of(plan); !faults.empty()) return {std::move(faults)};
    auto const entry = entry_of(graph.planned->graph.spec(), plan);
    auto const stored = entry ? entry->read() : std::nullopt;
    if (!stored) return {};
    return stored->bytes == kRight ? Outcome{{}, true} : Outcome{stored->bytes};
}

void keep_outcome(Graph::Impl const& graph, Plan const& plan, std::string const& faults) {
    if (auto const entry = entry_of(graph.planned->graph.spec(), plan)) entry->write(faults.empty() ? kRight : faults);
}

void log_outcome(Graph::Impl const& graph, Plan const& plan, std::string const& outcome) {
    if (isLoggingEnabled())
        core::log_line(text("first run of graph '", graph.name, "', ", plan.info().name, ": ", outcome));
}

// The next candidate has to run in the workspace that the caller has.
plan::Filters filters_of_next(Graph::Impl const& graph, Plan const& refuted, std::int64_t workspace_bytes) {
    plan::Filters filters = graph.settings.filters;
    std::int64_t const available = std::max(workspace_bytes, refuted.workspace_size());
    filters.largest_workspace = std::min(filters.largest_workspace.value_or(available), available);
    return filters;
}

}  // namespace

error_t Graph::run_first(detail::Run_queue queue, Variant_pack pack, void* workspace,
                         std::int64_t workspace_bytes) const {
    plan::Planner& planner = *impl_->planner;
    while (true) {
        Plan const& plan = *planner.plan();
        Outcome const known = known_outcome(*impl_, plan);
        std::string faults = known.faults;
        if (faults.empty()) {
            SDPA_GRAPH_TRY(plan.execute({queue.pointer, api::UserPack(pack, impl_->id), workspace, workspace_bytes}));
            Verification verification;
            Verification_options options;
            options.search_milliseconds = 0;
            error_t const failure = known.is_right ? error_t() : compare(pack, &options, verification);
            faults = faults_of(verification);
            if (failure.is_bad()) log_outcome(*impl_, plan, "it cannot be verified: " + failure.err_msg);
            else if (!known.is_right) keep_outcome(*impl_, plan, faults);
        }
        if (faults.empty()) {
            planner.prove(plan);
            return {};
        }
        log_outcome(*impl_, plan, "put aside, since " + faults);
        SDPA_GRAPH_TRY(planner.replace(plan, faults, filters_of_next(*impl_, plan, workspace_bytes)));
    }
}

}  // namespace cudnn_frontend::graph
