// Explanations and lists of candidates as text for people.
#include "core/text.h"

#include <cudnn_frontend/explanation.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>
#include <string_view>
#include <utility>

namespace cudnn_frontend {
namespace {

using core::escaped_for_xml;
using core::table;
using core::text;
using Cells = std::vector<std::string>;

std::string indented(std::string_view lines, std::string_view indent) {
    std::string all;
    while (!lines.empty()) {
        auto const end = std::min(lines.find('\n'), lines.size());
        all += text(indent, lines.substr(0, end), "\n");
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
    return all;
}

std::string joined(Cells const& parts, std::string_view between) {
    std::string all;
    for (std::string const& part : parts) all += text(all.empty() ? "" : between, part);
    return all;
}

std::string place_of(Finding const& finding) {
    std::string place = finding.where.node.empty() ? "the graph" : text("node '", finding.where.node, "'");
    if (!finding.where.tensor.empty()) place += ", " + finding.where.tensor;
    for (std::string const& other : finding.others) place += ", " + other;
    return place;
}

std::string findings_text(std::string_view heading, Report const& report) {
    std::string all = text(heading, ": ", report.findings().size(), "\n");
    for (Finding const& finding : report.findings()) {
        all += text("  ", finding.where.rule, "  ", place_of(finding), "\n");
        all += table({{"found", finding.found}, {"expected", finding.needed}, {"fix", finding.fix}}, "    ");
    }
    return all;
}

std::string time_text(double microseconds) {
    bool const is_long = microseconds >= 1000.0;
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.3g %s", is_long ? microseconds / 1000.0 : microseconds,
                  is_long ? "ms" : "us");
    return digits.data();
}

std::string state_of(Plan_candidate const& candidate) {
    return candidate.reason.empty() ? to_string(candidate.state) : candidate.reason;
}

std::string name_of(Plan_candidate const& candidate) {
    return candidate.state == CandidateState::REFUSED ? candidate.backend + " refused:" : candidate.name;
}

// The reason for which a candidate that was not timed comes after the one that runs.
std::string rank_of(Plan_candidate const& candidate, Plan_candidates const& list) {
    auto const runs = [](Plan_candidate const& each) { return each.state == CandidateState::RUNS; };
    auto const running = std::ranges::find_if(list.candidates, runs);
    bool const is_behind =
        candidate.state == CandidateState::MAY_BE_BUILT && candidate.reason.empty() && candidate.measured_runs == 0;
    if (running == list.candidates.end() || !is_behind) return {};
    if (candidate.backend == running->backend) return text("ranked lower by ", candidate.backend);
    return text("comes after the engines of ", running->backend);
}

std::string measured_text(Plan_candidate const& candidate) {
    return text("measured ", time_text(candidate.measured_us), ", ", time_text(candidate.measured_least_us), " to ",
                time_text(candidate.measured_greatest_us), " in ", candidate.measured_runs,
                candidate.measured_runs == 1 ? " run" : " runs");
}

// The times, where the plan came from, and its rank.
std::string remarks_on(Plan_candidate const& candidate, Plan_candidates const& list) {
    Cells parts;
    if (candidate.measured_runs > 0) parts.push_back(measured_text(candidate));
    if (candidate.estimated_us > 0.0) parts.push_back(time_text(candidate.estimated_us) + " expected");
    if (candidate.origin == PlanOrigin::STORED) parts.emplace_back("from the plan store");
    if (!candidate.store_miss.empty()) parts.emplace_back("compiled");
    if (std::string rank = rank_of(candidate, list); !rank.empty()) parts.push_back(std::move(rank));
    return joined(parts, ", ");
}

// The meaning of ranks, where a candidate has one.
std::string note_on_ranks(Plan_candidates const& list) {
    auto const has_rank = [&](Plan_candidate const& each) { return !rank_of(each, list).empty(); };
    if (std::ranges::none_of(list.candidates, has_rank)) return {};
    return "the order is that of heuristics, which run nothing: sdpa tune, or autotune() in a program, times "
           "each candidate";
}

std::string candidates_text(Plan_candidates const& list) {
    std::vector<Cells> rows;
    std::string refusals;
    for (Plan_candidate const& candidate : list.candidates) {
        if (candidate.state == CandidateState::REFUSED)
            refusals += indented(text(name_of(candidate), " ", candidate.reason), "  ");
        else rows.push_back({name_of(candidate), state_of(candidate), remarks_on(candidate, list)});
    }
    std::string all = "candidates\n" + table(rows, "  ") + indented(note_on_ranks(list), "  ");
    for (Plan_candidate const& candidate : list.candidates) {
        if (!candidate.store_miss.empty())
            all += text("  ", candidate.name, " was compiled: ", candidate.store_miss, "\n");
    }
    for (std::string const& remark : list.remarks) all += indented(remark, "  ");
    return all + refusals;
}

std::string bytes_text(std::int64_t bytes) {
    if (bytes < 1024) return text(bytes, " bytes");
    constexpr std::array<char const*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
    double number = static_cast<double>(bytes) / 1024.0;
    std::size_t unit = 0;
    for (; number >= 1024.0 && unit + 1 < kUnits.size(); ++unit) number /= 1024.0;
    std::array<char, 32> digits{};
    std::snprintf(digits.data(), digits.size(), "%.1f %s", number, kUnits[unit]);
    return digits.data();
}

constexpr char kNotBuilt[] = ", not compiled yet";

std::string nearest_text(Explanation const& explanation) {
    if (!explanation.was_searched) return {};
    if (explanation.nearest.empty()) return "no small change was found after which there is a plan\n";
    std::string all = "the nearest graphs that work:\n";
    int number = 0;
    for (Nearest_graph const& nearest : explanation.nearest) {
        std::string mark = text("  ", ++number, ". ");
        for (std::string const& change : nearest.changes) {
            all += text(mark, change, "\n");
            mark.assign(mark.size(), ' ');
        }
        all += text("     plan ", nearest.plan, " on ", nearest.target, nearest.was_built ? "" : kNotBuilt, "\n");
    }
    return all;
}

std::string subject_of(Explanation const& explanation) {
    return explanation.graph.empty() ? "the graph" : explanation.graph;
}

// Yes or no, with the plan or the reason.
std::string verdict_of(Explanation const& explanation) {
    std::string const subject = subject_of(explanation);
    if (explanation.has_plan())
        return text("yes: ", subject, " runs on ", explanation.target, " with ", explanation.plan, ", workspace ",
                    bytes_text(explanation.workspace_bytes), "\n");
    std::string const verdict = text("no: ", subject, " has no plan on ", explanation.target);
    if (!explanation.findings.ok()) return verdict + ", see the broken rules\n";
    if (!explanation.limits.ok()) return verdict + ", see its limits\n";
    return verdict + ":\n" + indented(explanation.refusal.err_msg, "  ");
}

std::string html_row(char const* cell, Cells const& cells) {
    std::string row = "<tr>";
    for (std::string const& content : cells)
        row += text("<", cell, " style=\"text-align:left\">", escaped_for_xml(content), "</", cell, ">");
    return row + "</tr>\n";
}

std::string html_table(Cells const& heads, std::vector<Cells> const& rows) {
    std::string all = "<table>\n" + html_row("th", heads);
    for (Cells const& row : rows) all += html_row("td", row);
    return all + "</table>\n";
}

std::string html_findings(std::string_view heading, Report const& report) {
    if (report.ok()) return {};
    std::vector<Cells> rows;
    for (Finding const& finding : report.findings())
        rows.push_back({finding.where.rule, place_of(finding), finding.found, finding.needed, finding.fix});
    return text("<p>", heading, "</p>\n", html_table({"rule", "at", "found", "expected", "fix"}, rows));
}

std::string html_candidates(Plan_candidates const& list) {
    if (list.candidates.empty()) return {};
    std::vector<Cells> rows;
    for (Plan_candidate const& candidate : list.candidates)
        rows.push_back({candidate.backend, candidate.name, state_of(candidate), remarks_on(candidate, list)});
    std::string all = html_table({"backend", "candidate", "state", ""}, rows);
    for (Plan_candidate const& candidate : list.candidates) {
        if (!candidate.store_miss.empty())
            all += text("<p>", escaped_for_xml(candidate.name + " was compiled: " + candidate.store_miss), "</p>\n");
    }
    if (std::string const note = note_on_ranks(list); !note.empty()) all += text("<p>", note, "</p>\n");
    for (std::string const& remark : list.remarks) all += text("<p>", escaped_for_xml(remark), "</p>\n");
    return all;
}

std::string html_nearest(Explanation const& explanation) {
    if (explanation.nearest.empty()) return {};
    std::vector<Cells> rows;
    for (Nearest_graph const& nearest : explanation.nearest)
        rows.push_back(
            {joined(nearest.changes, "; "), nearest.target, nearest.plan + (nearest.was_built ? "" : kNotBuilt)});
    return "<p>The nearest graphs that work</p>\n" + html_table({"change", "target", "plan"}, rows);
}

}  // namespace

char const* to_string(CandidateState state) {
    constexpr std::array kTexts = {"runs", "is built", "may be built", "cannot be used", "refused"};
    auto const index = static_cast<std::size_t>(state);
    return index < kTexts.size() ? kTexts[index] : "?";
}

char const* to_string(PlanOrigin origin) {
    constexpr std::array kTexts = {"not built", "compiled", "stored", "known"};
    auto const index = static_cast<std::size_t>(origin);
    return index < kTexts.size() ? kTexts[index] : "?";
}

std::string Plan_candidates::to_text() const {
    std::string lines, refusals;
    for (Plan_candidate const& candidate : candidates) {
        std::string& place = candidate.state == CandidateState::REFUSED ? refusals : lines;
        place += text("\n  ", name_of(candidate), " ", state_of(candidate));
    }
    std::string all = (lines.empty() ? "candidates: none" : "candidates:") + lines;
    for (std::string const& remark : remarks) all += "\n  " + remark;
    return all + refusals + "\n";
}

std::string Explanation::to_text() const {
    std::string all = findings.ok() ? "rules: all hold\n" : findings_text("broken rules", findings);
    if (!limits.ok()) all += findings_text(text("limits of ", target), limits);
    if (!advice.empty()) all += "advice\n" + indented(advice.to_text(), "  ");
    // Its limits say more than a backend that refused by them.
    if (!candidates.candidates.empty() && limits.ok()) all += candidates_text(candidates);
    return all + verdict_of(*this) + nearest_text(*this);
}

std::string Explanation::to_html() const {
    std::string all = text("<pre>", escaped_for_xml(verdict_of(*this)), "</pre>\n");
    all += html_findings("Broken rules", findings) + html_findings("Limits of the target", limits);
    if (!advice.empty()) all += text("<pre>", escaped_for_xml(advice.to_text()), "</pre>\n");
    return all + html_candidates(candidates) + html_nearest(*this);
}

std::ostream& operator<<(std::ostream& stream, Explanation const& explanation) {
    return stream << explanation.to_text();
}

}  // namespace cudnn_frontend
