#include <cudnn_frontend/report.h>

#include "core/place_text.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace cudnn_frontend {
namespace {

constexpr std::size_t kMostFindings = 100;  // in the text of one error

std::string describe(Finding const& finding) {
    std::string text = core::place_text(finding.where, finding.others) + ": found " + finding.found + "; expected " +
                       finding.needed + ".";
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

}  // namespace cudnn_frontend
