// The texts of findings: faults, and advice.
#include <cudnn_frontend/advice.h>
#include <cudnn_frontend/report.h>

#include <algorithm>
#include <ostream>
#include <utility>

namespace cudnn_frontend {
namespace {

constexpr std::size_t kMostTensors = 16;

std::string tensors_text(std::string const& first, std::vector<std::string> const& others) {
    std::string text = (others.empty() ? "tensor '" : "tensors '") + first + "'";
    std::size_t const shown = std::min(others.size(), kMostTensors - 1);
    for (std::size_t i = 0; i < shown; ++i) text += ", '" + others[i] + "'";
    if (shown < others.size()) text += " and " + std::to_string(others.size() - shown) + " more";
    return text;
}

// [sdpa_fwd.c07] node 'attention', tensor 'K'; of many tensors the first 16 and how many more there are.
std::string place_text(error_location const& where, std::vector<std::string> const& other_tensors) {
    std::string text = "[" + where.rule + "]";
    if (!where.node.empty()) text += " node '" + where.node + "'";
    if (!where.tensor.empty()) text += (where.node.empty() ? " " : ", ") + tensors_text(where.tensor, other_tensors);
    return text;
}

constexpr std::size_t kMostFindings = 100;  // in the text of one error

std::string describe(Finding const& finding) {
    std::string text =
        place_text(finding.where, finding.others) + ": found " + finding.found + "; expected " + finding.needed + ".";
    if (!finding.fix.empty()) text += " Try: " + finding.fix + ".";
    return text;
}

}  // namespace

Report::Report() = default;
Report::Report(std::vector<Finding> findings) : findings_(std::move(findings)) {}

std::vector<Finding> Report::findings() && { return std::move(findings_); }

std::string Report::to_text() const {
    std::string text;
    for (Finding const& finding : findings_) text += describe(finding) + "\n";
    return text;
}

error_t Report::to_error() const {
    if (ok()) return {};
    std::string text;
    if (findings_.size() > 1) text = std::to_string(findings_.size()) + " findings:\n";
    std::size_t const shown = std::min(findings_.size(), kMostFindings);
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : "\n") + describe(findings_[i]);
    if (shown < findings_.size()) {
        text += "\nand " + std::to_string(findings_.size() - shown) + " more, which Graph::check() lists";
    }
    return {findings_.front().code, std::move(text), findings_.front().where};
}

std::ostream& operator<<(std::ostream& stream, Report const& report) { return stream << report.to_text(); }

Advice::Advice() = default;
Advice::Advice(std::vector<Remark> remarks) : remarks_(std::move(remarks)) {}

std::vector<Remark> Advice::remarks() && { return std::move(remarks_); }

std::string Advice::to_text() const {
    std::string text;
    for (Remark const& remark : remarks_) {
        text += place_text(remark.where, remark.others) + ": found " + remark.found + ": " + remark.effect +
                ". Try: " + remark.fix + ".\n";
    }
    return text;
}

std::ostream& operator<<(std::ostream& stream, Advice const& advice) { return stream << advice.to_text(); }

}  // namespace cudnn_frontend
