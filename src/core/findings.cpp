#include "core/findings.h"

#include <algorithm>
#include <utility>

namespace cudnn_frontend::core {
namespace {

constexpr std::size_t kMostNames = 16;      // in a text
constexpr std::size_t kMostFindings = 100;  // in the text of one error

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

std::string tensors_text(std::string const& first, std::vector<std::string> const& others) {
    std::string text = (others.empty() ? "tensor '" : "tensors '") + first + "'";
    std::size_t const shown = std::min(others.size(), kMostNames - 1);
    for (std::size_t i = 0; i < shown; ++i) text += ", '" + others[i] + "'";
    if (shown < others.size()) text += " and " + std::to_string(others.size() - shown) + " more";
    return text;
}

}  // namespace

Finding Rule::violation(std::string node, std::string tensor, std::string found, std::string needed,
                        std::string fix) const {
    return {code, {id, std::move(node), std::move(tensor)}, std::move(found), std::move(needed), std::move(fix)};
}

Finding finding_at(std::string place, error_code_t code, std::string found, std::string needed, std::string fix) {
    return {code, {"", std::move(place), ""}, std::move(found), std::move(needed), std::move(fix)};
}

error_t error_at(std::string place, error_code_t code, std::string found, std::string needed, std::string fix) {
    return error_of({finding_at(std::move(place), code, std::move(found), std::move(needed), std::move(fix))});
}

void Reporter::report_at(std::string node, std::string tensor, std::string found, std::string needed, std::string fix,
                         void const* subject, std::string const& port) const {
    findings_.add(
        rule_.violation(std::move(node), std::move(tensor), std::move(found), std::move(needed), std::move(fix)),
        subject, port);
}

void Findings::add(Finding finding, void const* subject, std::string const& port) {
    if (is_full()) return;
    std::string key = finding.where.rule;
    for (std::string const* part : {&finding.where.node, &finding.found, &finding.needed, &finding.fix}) {
        (key += '\n') += *part;
    }
    if (empty()) found_ = std::make_unique<Found>();
    auto& [groups, group_of] = *found_;
    auto const [entry, is_new] = group_of.emplace(std::pair(subject, std::move(key)), groups.size());
    if (is_new) {
        std::string const tensor = finding.where.tensor;
        groups.push_back({std::move(finding), {port}, {tensor}});
        return;
    }
    Group& group = groups[entry->second];
    group.ports.push_back(port);
    // One tensor may be connected to several ports.
    std::string& tensor = finding.where.tensor;
    if (group.tensors.insert(tensor).second) group.finding.others.push_back(std::move(tensor));
}

bool Findings::has(void const* subject) const {
    if (empty()) return false;
    auto const entry = found_->group_of.lower_bound({subject, std::string()});
    return entry != found_->group_of.end() && entry->first.first == subject;
}

std::vector<Finding> Findings::take() const {
    if (empty()) return {};
    std::vector<Finding> findings;
    findings.reserve(found_->groups.size());
    for (Group const& group : found_->groups) {
        Finding finding = group.finding;
        std::string const ports = listed(group.ports, "and");
        for (std::string* text : {&finding.found, &finding.needed, &finding.fix}) replace_all(*text, kPort, ports);
        findings.push_back(std::move(finding));
    }
    return findings;
}

error_t Findings::error_of_found(std::string_view heading) const {
    error_t error = error_of(take(), heading);
    if (is_full()) error.err_msg += "\n  (there may be more)";
    return error;
}

error_t error_of(std::vector<Finding> const& findings, std::string_view heading, std::string_view rest) {
    if (findings.empty()) return {};
    std::string text(heading);
    if (heading.empty() && findings.size() > 1) text = std::to_string(findings.size()) + " findings:";
    char const* const indent = heading.empty() ? "\n" : "\n  ";
    std::size_t const shown = std::min(findings.size(), kMostFindings);
    for (std::size_t i = 0; i < shown; ++i) text += (text.empty() ? "" : indent) + text_of(findings[i]);
    if (shown < findings.size()) {
        text += indent + ("and " + std::to_string(findings.size() - shown) + " more").append(rest);
    }
    return {findings.front().code, std::move(text), findings.front().where};
}

std::string place_text(error_location const& where, std::vector<std::string> const& other_tensors) {
    if (where.rule.empty()) return where.node;
    std::string text = "[" + where.rule + "]";
    if (!where.node.empty()) text += " node '" + where.node + "'";
    if (!where.tensor.empty()) text += (where.node.empty() ? " " : ", ") + tensors_text(where.tensor, other_tensors);
    return text;
}

std::string text_of(Finding const& finding) {
    std::string text = place_text(finding.where, finding.others);
    if (!text.empty()) text += ": ";
    if (!finding.found.empty()) text += "found " + finding.found + "; ";
    text += "expected " + finding.needed + ".";
    if (!finding.fix.empty()) text += " Try: " + finding.fix + ".";
    return text;
}

std::string listed(std::vector<std::string> const& parts, std::string_view last_word) {
    std::string list;
    for (std::size_t i = 0; i < parts.size() && i < kMostNames; ++i) {
        bool const is_last = i + 1 == parts.size();
        if (i > 0) list += is_last ? " " + std::string(last_word) + " " : ", ";
        list += parts[i];
    }
    if (parts.size() <= kMostNames) return list;
    return list + " " + std::string(last_word) + " " + std::to_string(parts.size() - kMostNames) + " more";
}

}  // namespace cudnn_frontend::core
