#include "nodes/schema/advice.h"

#include <utility>
#include <vector>

namespace cudnn_frontend::nodes {

static std::vector<Finding> findings_on(GraphSpec const& graph, Uses const& uses, Node const& node) {
    FindingList findings;
    for (Rule const& rule : attention_advice()) rule.check(RuleScope(graph, uses, &node, rule, findings));
    return findings.take();
}

Advice advise(ValidatedGraph const& graph) {
    GraphSpec const& spec = graph.spec();
    Uses const uses = uses_of_tensors(spec);
    std::vector<Remark> remarks;
    for (Node const& node : spec.nodes) {
        if (attention_fields(node) == nullptr) continue;
        for (Finding& finding : findings_on(spec, uses, node)) {
            finding.where.node = graph.label(node);
            remarks.push_back({std::move(finding.where), std::move(finding.others), std::move(finding.found),
                               std::move(finding.needed), std::move(finding.fix)});
        }
    }
    return Advice(std::move(remarks));
}

}  // namespace cudnn_frontend::nodes
