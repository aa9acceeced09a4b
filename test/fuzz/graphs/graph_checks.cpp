#include "fuzz/graphs/graph_checks.h"

#include "fuzz/driver.h"

namespace fuzz {

std::string wording_fault(error_t const& error) {
    return error.is_bad() && error.err_msg.empty() ? "an error without a text" : "";
}

std::string rewriting_fault(Graph const& graph) {
    std::string text, again;
    Graph copy;
    if (graph.serialize(text).is_bad() || copy.deserialize(text).is_bad() || copy.serialize(again).is_bad()) {
        return "a graph that was read cannot be written and read again";
    }
    ++figures().comparisons;
    return text == again ? "" : "a graph that was written and read is written otherwise";
}

std::string validation_fault(Graph& graph) {
    cudnn_frontend::Report const report = graph.check();
    error_t const error = graph.validate();
    ++figures().comparisons;
    if (report.ok() != error.is_good()) return "check() and validate() disagree: " + error.err_msg;
    for (cudnn_frontend::Finding const& finding : report.findings()) {
        if (finding.where.rule.empty() || finding.found.empty() || finding.needed.empty() || finding.fix.empty()) {
            return "a finding lacks words: " + report.to_text();
        }
    }
    return wording_fault(error);
}

}  // namespace fuzz
