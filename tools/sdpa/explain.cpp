// sdpa explain: whether a graph has a plan, and what is against each candidate; otherwise the nearest graphs that have.
#include "neighbors.h"
#include "output.h"

#include <cctype>
#include <memory>
#include <sstream>

namespace sdpa {
namespace {

struct Explain_options {
    std::string path, target = "h100";
    bool is_json = false, is_short = false;
    int limit_ms = 2000;
};

struct Candidate {
    std::string name, state;
};

struct Explanation {
    std::string graph, target;
    fe::Report report;
    fe::Advice advice;
    fe::error_t refusal;  // of the build
    std::vector<Candidate> candidates;
    std::string plan;
    std::int64_t workspace_bytes = 0;
    std::vector<Neighbor> neighbors;

    bool has_plan() const { return report.ok() && refusal.is_good(); }
};

// The lines of Graph::print_candidates(): "  name state", or "  backend: reason".
std::vector<Candidate> candidates_of(fe::graph::Graph const& graph) {
    std::string text;
    if (graph.print_candidates(text).is_bad()) return {};
    std::vector<Candidate> candidates;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("  ")) continue;
        line = line.substr(2);
        auto const end = line.find(' ');
        std::string name = line.substr(0, end);
        if (name.ends_with(':')) name.pop_back();
        candidates.push_back({name, end == std::string::npos ? "" : line.substr(end + 1)});
    }
    return candidates;
}

Explanation explain(Explain_options const& options) {
    Graph_file file = read_graph(options.path);
    fe::Target const target = parse_target(options.target);
    Explanation result;
    result.graph = file.name;
    result.target = options.target;
    result.report = file.graph.check();
    result.advice = file.graph.advice();
    if (result.report.ok()) {
        result.refusal = file.graph.build(target);
        result.candidates = candidates_of(file.graph);
        if (result.refusal.is_good()) {
            auto const named = file.graph.get_plan_name(result.plan);
            auto const sized = file.graph.get_workspace_size(result.workspace_bytes);
            if (named.is_bad() || sized.is_bad()) throw Failure(named.err_msg + sized.err_msg);
        }
    }
    if (!result.has_plan() && !options.is_short)
        result.neighbors =
            nearest_graphs({file.document, options.target, target, std::chrono::milliseconds(options.limit_ms)});
    return result;
}

std::string place_of(fe::error_location const& where, std::vector<std::string> const& others) {
    std::string text = where.node.empty() ? "the graph" : "node '" + where.node + "'";
    if (!where.tensor.empty()) text += ", " + where.tensor;
    for (std::string const& other : others) text += ", " + other;
    return text;
}

std::string findings_text(fe::Report const& report) {
    if (report.ok()) return "rules: all hold\n";
    std::string text = colored(Color::Red, "broken rules") + ": " + std::to_string(report.findings().size()) + "\n";
    for (fe::Finding const& finding : report.findings()) {
        text += "  " + finding.where.rule + "  " + place_of(finding.where, finding.others) + "\n";
        text += table({{"found", finding.found}, {"expected", finding.needed}, {"fix", finding.fix}}, "    ");
    }
    return text;
}

std::string neighbors_text(std::vector<Neighbor> const& neighbors) {
    if (neighbors.empty()) return "no small change was found after which there is a plan\n";
    std::string text = "the nearest graphs that work, each was planned:\n";
    for (std::size_t i = 0; i < neighbors.size(); ++i) {
        Neighbor const& neighbor = neighbors[i];
        std::string const mark = std::to_string(i + 1) + ". ";
        for (std::size_t c = 0; c < neighbor.changes.size(); ++c)
            text += "  " + (c == 0 ? mark : std::string("   ")) + neighbor.changes[c] + "\n";
        text += "     plan " + neighbor.plan + " on " + neighbor.target + "\n";
    }
    return text;
}

std::string to_text(Explanation const& result, bool is_short) {
    std::string text = findings_text(result.report);
    if (!result.advice.empty()) text += "advice\n" + indented(result.advice.to_text(), "  ");
    if (!result.candidates.empty()) {
        std::vector<std::vector<std::string>> rows;
        for (Candidate const& candidate : result.candidates) rows.push_back({candidate.name, candidate.state});
        text += "candidates\n" + table(rows, "  ");
    }
    if (result.has_plan())
        return text + colored(Color::Green, "yes") + ": " + result.graph + " runs on " + result.target + " with " +
               result.plan + ", workspace " + bytes_text(static_cast<std::uint64_t>(result.workspace_bytes)) + "\n";
    text += colored(Color::Red, "no") + ": " + result.graph + " has no plan on " + result.target;
    text += result.report.ok() ? ":\n" + indented(result.refusal.get_message(), "  ") : ", see the broken rules\n";
    return text + (is_short ? "" : neighbors_text(result.neighbors));
}

Json to_json(Explanation const& result) {
    Json candidates = Json::array(), neighbors = Json::array();
    for (Candidate const& candidate : result.candidates)
        candidates.push_back({{"name", candidate.name}, {"state", candidate.state}});
    for (Neighbor const& neighbor : result.neighbors)
        neighbors.push_back({{"changes", neighbor.changes},
                             {"target", neighbor.target},
                             {"plan", neighbor.plan},
                             {"graph", neighbor.document}});
    Json refusal = nullptr, plan = nullptr;
    if (result.refusal.is_bad())
        refusal = {{"code", to_string(result.refusal.code)},
                   {"rule", result.refusal.where.rule},
                   {"message", result.refusal.err_msg}};
    if (result.has_plan()) plan = {{"name", result.plan}, {"workspace_bytes", result.workspace_bytes}};
    return {{"graph", result.graph},
            {"target", result.target},
            {"findings", Json::parse(result.report.to_json())},
            {"advice", Json::parse(result.advice.to_json())},
            {"candidates", candidates},
            {"refusal", refusal},
            {"plan", plan},
            {"neighbors", neighbors}};
}

int run_explain(Explain_options const& options) {
    Explanation const result = explain(options);
    if (options.is_json) print_json(to_json(result));
    else print(to_text(result, options.is_short));
    return result.has_plan() ? kYes : kNo;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
    auto const options = std::make_shared<Explain_options>();
    CLI::App* const command = app.add_subcommand("explain", "Whether a graph has a plan, why not, and what to change");
    command->add_option("file", options->path, "A graph as JSON; - reads standard input")->required();
    command->add_option("--target,--for", options->target, help_of_targets())->capture_default_str();
    command->add_flag("--short", options->is_short, "Do not search the nearest graphs that work");
    command->add_option("--limit", options->limit_ms, "Milliseconds for this search")
        ->capture_default_str()
        ->check(CLI::Range(0, 600000));
    command->add_flag("--json", options->is_json, "Print JSON");
    command->footer(footer("  sdpa explain graph.json --target h100\n  sdpa explain - --target cpu --json < graph.json",
                           "0: there is a plan; 1: there is none"));
    command->callback([options, &action] { action = [options] { return run_explain(*options); }; });
}

}  // namespace sdpa
