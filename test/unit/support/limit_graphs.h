// What the tests of limits share.
#pragma once

#include "support/support.h"
#include "unit/expand/attention_graphs.h"

namespace test {

// The limits that a graph violates: "cudnn.s14 cudnn.s28".
inline std::string limit_ids(AttentionGraph const& graph, cudnn_frontend::core::Capabilities const& here) {
    std::string text;
    auto const report = cudnn_frontend::support::check(validated(graph.spec), here);
    for (auto const& finding : report.findings()) text += (text.empty() ? "" : " ") + finding.where.rule;
    return text;
}

inline void resize(AttentionGraph& graph, std::initializer_list<int> ports, std::size_t axis, std::int64_t size) {
    for (int const port : ports) {
        auto& tensor = graph.tensor(port);
        tensor.dim[axis] = size;
        tensor.stride = cudnn_frontend::core::packed_strides(tensor.dim);
    }
}

}  // namespace test
