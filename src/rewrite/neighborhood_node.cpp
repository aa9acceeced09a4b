#include "rewrite/only_node.h"

#include <cmath>

namespace cudnn_frontend::rewrite {

using nodes::NodeKind;

error_t refusal(std::string const& rewrite, std::vector<core::Rule> const& unmet) {
    if (unmet.empty()) return {};
    core::Findings findings;
    for (core::Rule const& rule : unmet) findings.add(rule.violation("", "", "", rule.summary, ""));
    return findings.to_error("the rewrite " + rewrite + " does not apply:");
}

std::optional<Neighborhood> Neighborhood::of(nodes::ValidatedGraph const& graph) {
    nodes::GraphSpec const& spec = graph.spec();
    if (spec.nodes.size() != 1) return {};
    NodeKind const kind = spec.nodes.front().kind();
    if (kind != NodeKind::NeighborhoodForward && kind != NodeKind::NeighborhoodBackward) return {};
    return Neighborhood(spec);
}

Neighborhood::Neighborhood(nodes::GraphSpec const& graph) : OnlyNode(graph) {
    core::Dims const& tokens = tensor(neighborhood::Q)->dim;
    batches = tokens.front();
    columns = tokens.back();
    axes = neighborhood::axes_of(*nodes::neighborhood_fields(node()), core::Dims(tokens.begin() + 1, tokens.end() - 2));
}

float Neighborhood::scale() const {
    auto const set = is_backward() ? std::get<nodes::NeighborhoodBackwardFields>(node().fields).attn_scale
                                   : std::get<nodes::NeighborhoodForwardFields>(node().fields).attn_scale;
    return set ? static_cast<float>(*set) : static_cast<float>(1.0 / std::sqrt(static_cast<double>(columns)));
}

}  // namespace cudnn_frontend::rewrite
