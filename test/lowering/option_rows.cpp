#include "lowering/option_rows.h"

#include "api/graph/graph_impl.h"
#include "gpu/cases/gpu_cases.h"
#include "lowering/block_scale_graphs.h"
#include "lowering/case_graphs.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace sdpa_test {
namespace {

using namespace cudnn_frontend;

// The graph of a case, whose tensors have no data, since nothing runs.
std::optional<graph::Graph> graph_of(AttentionCase const& c, bool is_backward) {
    if (is_backward && !c.has_backward()) return {};
    Graphs graphs(c);
    return is_backward ? graphs.backward.graph() : graphs.forward.graph();
}

OptionRow row_of(std::string const& name, AttentionCase const& c) {
    return {name, [c](bool is_backward) { return graph_of(c, is_backward); }, {.dynamic_shapes = c.dynamic_shapes}};
}

OptionRow block_scale_row(char const* name, std::int64_t rows, std::int64_t head_dim, bool is_causal) {
    BlockScaleGraph::Dims const dim{2, 4, rows, head_dim};
    auto const graph = [dim, is_causal](bool is_backward) {
        return is_backward ? BlockScaleGraph::backward(dim, is_causal) : BlockScaleGraph::forward(dim, is_causal);
    };
    return {name, graph, {}};
}

}  // namespace

std::vector<OptionRow> option_rows() {
    std::vector<OptionRow> rows;
    for (auto const& groups : {gpu_case_groups(), groups_at_limits()})
        for (CaseGroup const& group : groups) rows.push_back(row_of(group.name, group.cases[3]));
    rows.push_back(block_scale_row("MXFP8", 1024, 128, false));
    rows.push_back(block_scale_row("MXFP8, causal", 1024, 128, true));
    rows.push_back(block_scale_row("MXFP8, heads of 192", 1024, 192, false));
    rows.push_back(block_scale_row("MXFP8, one query and one key", 1, 128, false));
    return rows;
}

nodes::GraphSpec spec_of(graph::Graph const& graph) { return detail::Graph_access::snapshot(graph).spec; }

nodes::ValidatedGraph validated(nodes::GraphSpec spec) {
    nodes::Validation validation = nodes::validate(std::move(spec));
    if (validation.graph) return std::move(*validation.graph);
    std::fprintf(stderr, "%s\n", validation.report.to_error().err_msg.c_str());
    std::exit(1);
}

}  // namespace sdpa_test
