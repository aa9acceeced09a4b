// Reports and advice: findings as the API returns them.
#include "core/findings.h"

#include <cudnn_frontend/advice.h>
#include <cudnn_frontend/report.h>

#include <ostream>
#include <utility>

namespace cudnn_frontend {

Report::Report() = default;
Report::Report(std::vector<Finding> findings) : findings_(std::move(findings)) {}

std::vector<Finding> Report::findings() && { return std::move(findings_); }

std::string Report::to_text() const {
    std::string text;
    for (Finding const& finding : findings_) text += core::text_of(finding) + "\n";
    return text;
}

error_t Report::to_error() const { return core::error_of(findings_, {}, ", which Graph::check() lists"); }

std::ostream& operator<<(std::ostream& stream, Report const& report) { return stream << report.to_text(); }

Advice::Advice() = default;
Advice::Advice(std::vector<Remark> remarks) : remarks_(std::move(remarks)) {}

std::vector<Remark> Advice::remarks() && { return std::move(remarks_); }

std::string Advice::to_text() const {
    std::string text;
    for (Remark const& remark : remarks_) {
        text += core::place_text(remark.where, remark.others) + ": found " + remark.found + ": " + remark.effect +
                ". Try: " + remark.fix + ".\n";
    }
    return text;
}

std::ostream& operator<<(std::ostream& stream, Advice const& advice) { return stream << advice.to_text(); }

}  // namespace cudnn_frontend
