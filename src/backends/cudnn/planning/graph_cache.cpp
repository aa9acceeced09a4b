#include "cudnn/planning/graph_cache.h"

#include "core/process/process_settings.h"

namespace cudnn_frontend::cudnn {

GraphCache& GraphCache::of_process() {
    static GraphCache& cache = *new GraphCache();
    return cache;
}

// Several threads may lower one graph at once: waiting for each other would hold up those with other graphs.
Result<std::shared_ptr<SharedGraph>> GraphCache::find_or_lower(GraphKey key) {
    std::size_t const most = core::process::kept_graphs.get();
    if (most == 0) return SharedGraph::lower(std::move(key));
    std::size_t const size = key.op_graph.graph.values().size();
    auto known = graphs_.find(size, [&](SharedGraph const& graph) { return same_plans(graph.key(), key); });
    if (known) return known;
    auto graph = SharedGraph::lower(std::move(key));
    if (graph.is_good()) graphs_.keep(size, graph.value(), most);
    return graph;
}

void GraphCache::forget(SharedGraph const& graph) {
    graphs_.forget([&](SharedGraph const& kept) { return &kept == &graph; });
}

}  // namespace cudnn_frontend::cudnn
