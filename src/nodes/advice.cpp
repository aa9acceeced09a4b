#include "nodes/advice.h"

#include <utility>

namespace cudnn_frontend::nodes {

std::vector<Remark> remarks_on(GraphSpec const& graph, Node const& node) {
    if (attention_fields(node) == nullptr) return {};
    Uses const uses = uses_of_tensors(graph);
    FindingList found;
    for (Rule const& rule : attention_advice()) rule.check(RuleScope(graph, uses, &node, rule, found));
    std::vector<Remark> remarks;
    for (Finding& finding : found.take()) {
        remarks.push_back({std::move(finding.where), std::move(finding.others), std::move(finding.found),
                           std::move(finding.needed), std::move(finding.fix)});
    }
    return remarks;
}

Advice advise(ValidatedGraph const& graph) {
    std::vector<Remark> all;
    for (Node const& node : graph.spec().nodes) {
        for (Remark& remark : remarks_on(graph.spec(), node)) {
            remark.where.node = graph.label(node);
            all.push_back(std::move(remark));
        }
    }
    return Advice(std::move(all));
}

}  // namespace cudnn_frontend::nodes
