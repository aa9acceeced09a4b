// Reports, advice and explanations as JSON.
#include "core/names.h"
#include "json/document.h"
#include "json/graph_json.h"

namespace cudnn_frontend {
namespace json {
namespace {

void append_place(Json& object, error_location const& where, std::vector<std::string> const& others) {
    object.append("rule", where.rule);
    object.append("node", where.node);
    object.append("tensor", where.tensor);
    Json& names = object.append("others", Json::list());
    for (std::string const& tensor : others) names.append(tensor);
}

}  // namespace

static Json report_json(Report const& report) {
    Json list = Json::list();
    for (Finding const& finding : report.findings()) {
        Json& object = list.append(Json::object());
        object.append("code", core::name_of(finding.code));
        append_place(object, finding.where, finding.others);
        object.append("found", finding.found);
        object.append("needed", finding.needed);
        object.append("fix", finding.fix);
    }
    return list;
}

static Json advice_json(Advice const& advice) {
    Json list = Json::list();
    for (Remark const& remark : advice.remarks()) {
        Json& object = list.append(Json::object());
        append_place(object, remark.where, remark.others);
        object.append("found", remark.found);
        object.append("effect", remark.effect);
        object.append("fix", remark.fix);
    }
    return list;
}

// Null for a text that is empty, and for a time that is not known.
static Json or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }
static Json or_null(double time) { return time > 0.0 ? Json(time) : Json(); }

static Json candidates_json(Plan_candidates const& all) {
    Json list = Json::list();
    for (Plan_candidate const& candidate : all.candidates) {
        Json& object = list.append(Json::object());
        object.append("backend", candidate.backend);
        object.append("name", or_null(candidate.name));
        object.append("state", to_string(candidate.state));
        object.append("reason", or_null(candidate.reason));
        object.append("rule", or_null(candidate.rule));
        object.append("workspace_bytes", candidate.workspace_bytes);
        object.append("estimated_us", or_null(candidate.estimated_us));
        object.append("measured_us", or_null(candidate.measured_us));
        object.append("measured_least_us", or_null(candidate.measured_least_us));
        object.append("measured_greatest_us", or_null(candidate.measured_greatest_us));
        object.append("measured_runs", candidate.measured_runs);
        object.append("origin", to_string(candidate.origin));
        object.append("store_miss", or_null(candidate.store_miss));
    }
    return list;
}

static Json refusal_json(error_t const& refusal) {
    if (refusal.is_good()) return {};
    Json object = Json::object();
    object.append("code", core::name_of(refusal.code));
    object.append("rule", refusal.where.rule);
    object.append("message", refusal.err_msg);
    return object;
}

static Json plan_json(Explanation const& explanation) {
    if (!explanation.has_plan()) return {};
    Json object = Json::object();
    object.append("name", explanation.plan);
    object.append("workspace_bytes", explanation.workspace_bytes);
    return object;
}

// Each graph as a document of its own.
static Json nearest_json(std::vector<Nearest_graph> const& all) {
    Json list = Json::list();
    for (Nearest_graph const& nearest : all) {
        Json& object = list.append(Json::object());
        object.append("changes", list_of(nearest.changes));
        object.append("target", nearest.target);
        object.append("plan", nearest.plan);
        object.append("built", nearest.was_built);
        Problems problems;
        object.append("graph", parse(nearest.graph, problems));
    }
    return list;
}

std::string write_report(Report const& report) { return print(report_json(report)); }
std::string write_advice(Advice const& advice) { return print(advice_json(advice)); }

std::string write_explanation(Explanation const& explanation) {
    Json object = Json::object();
    object.append("graph", explanation.graph);
    object.append("target", explanation.target);
    object.append("findings", report_json(explanation.findings));
    object.append("limits", report_json(explanation.limits));
    object.append("advice", advice_json(explanation.advice));
    object.append("candidates", candidates_json(explanation.candidates));
    object.append("remarks", list_of(explanation.candidates.remarks));
    object.append("refusal", refusal_json(explanation.refusal));
    object.append("plan", plan_json(explanation));
    object.append("nearest", nearest_json(explanation.nearest));
    return print(object);
}

}  // namespace json

std::string Report::to_json() const { return json::write_report(*this); }
std::string Advice::to_json() const { return json::write_advice(*this); }
std::string Explanation::to_json() const { return json::write_explanation(*this); }

}  // namespace cudnn_frontend
