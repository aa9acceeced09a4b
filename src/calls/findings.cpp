#include "calls/findings.h"

#include <utility>

namespace sdpa_graph::calls {

void Findings::report(Condition const& condition, std::string argument, std::string found, std::string needed,
                      std::string fix) {
    if (!findings_.empty() && !argument.empty()) {
        fe::Finding& last = findings_.back();
        if (last.where.rule == condition.id && last.found == found && last.needed == needed) {
            last.others.push_back(std::move(argument));
            return;
        }
    }
    findings_.push_back({condition.code,
                         {condition.id, function_, std::move(argument)},
                         std::move(found),
                         std::move(needed),
                         std::move(fix)});
}

error_t Findings::to_error() && { return fe::Report(std::move(findings_)).to_error(); }

}  // namespace sdpa_graph::calls
