#include "nodes/validation/validate.h"

#include "nodes/schema/rule.h"
#include "nodes/schema/wording.h"

#include <utility>
#include <vector>

namespace cudnn_frontend::nodes {

static std::span<Rule const> advice_on(Node const& node) {
    if (attention_fields(node) != nullptr) return attention_advice();
    return node.kind() == NodeKind::Pointwise ? pointwise_advice() : std::span<Rule const>();
}

static std::vector<Finding> findings_on(GraphSpec const& graph, Uses const& uses, Node const& node) {
    core::Findings findings;
    for (Rule const& rule : advice_on(node)) rule.check(RuleScope(graph, uses, &node, rule, findings));
    return findings.take();
}

Advice advise(ValidatedGraph const& graph) {
    GraphSpec const& spec = graph.spec();
    Uses const uses = uses_of_tensors(spec);
    std::vector<Remark> remarks;
    for (Node const& node : every_node(spec)) {
        for (Finding& finding : findings_on(spec, uses, node)) {
            finding.where.node = nodes::label(node);
            remarks.push_back({std::move(finding.where), std::move(finding.others), std::move(finding.found),
                               std::move(finding.needed), std::move(finding.fix)});
        }
    }
    return Advice(std::move(remarks));
}

}  // namespace cudnn_frontend::nodes
