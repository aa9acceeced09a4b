// Shared by the tests of limits.
#pragma once

#include "cudnn/quirks/support.h"
#include "unit/expand/attention_graphs.h"

namespace test {

// The limits that a graph violates: "cudnn.s14 cudnn.s86".
inline std::string limit_ids(AttentionGraph const& graph, cudnn_frontend::quirks::Capabilities const& here,
                             cudnn_frontend::quirks::QuirkSettings const& settings = {}) {
    std::string text;
    auto const report = cudnn_frontend::quirks::check(validated(graph.spec), here, settings);
    for (auto const& finding : report.findings()) text += (text.empty() ? "" : " ") + finding.where.rule;
    return text;
}

// A graph of forward or of backward.
inline AttentionGraph with_head_dims(AttentionGraph graph, std::int64_t qk, std::int64_t v) {
    bool const is_backward = graph.node().kind() == cudnn_frontend::nodes::NodeKind::SdpaBackward;
    resize(graph, {Port::Q, Port::K}, 3, qk);
    resize(graph, {Port::V, Port::O}, 3, v);
    if (is_backward) {
        resize(graph, {Port::DQ, Port::DK}, 3, qk);
        resize(graph, {Port::DO, Port::DV}, 3, v);
    }
    return graph;
}

}  // namespace test
