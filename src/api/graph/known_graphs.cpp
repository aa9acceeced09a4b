#include "api/graph/known_graphs.h"

#include "core/process/process_settings.h"

#include <utility>

namespace cudnn_frontend::api {

KnownGraphs& KnownGraphs::of_process() {
    static KnownGraphs& graphs = *new KnownGraphs();
    return graphs;
}

Result<plan::FoundObject<plan::CheckedGraph const>> KnownGraphs::check(Description const& described) {
    using FoundGraph = plan::FoundObject<plan::CheckedGraph const>;
    std::size_t const most = core::process::kept_graphs.get();
    std::size_t const key = most == 0 ? 0 : described.quick_key();
    auto const is_same = [&](plan::CheckedGraph const& kept) { return described.is(kept.described); };
    auto known = most == 0 ? nullptr : checked_.find(key, is_same);
    if (known) return FoundGraph{std::move(known), true};
    nodes::GraphSpec spec = described.copy();
    nodes::Validation validation = nodes::validate(spec);
    if (!validation.graph) return validation.report.to_error();
    auto graph =
        std::make_shared<plan::CheckedGraph const>(plan::CheckedGraph{std::move(spec), std::move(*validation.graph)});
    if (most > 0) checked_.keep(key, graph, most);
    return FoundGraph{std::move(graph), false};
}

}  // namespace cudnn_frontend::api
