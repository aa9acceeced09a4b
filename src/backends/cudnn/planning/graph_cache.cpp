#include "cudnn/planning/graph_cache.h"

#include "core/environment.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {

GraphCache& GraphCache::of_process() {
    static GraphCache& cache = *new GraphCache();
    return cache;
}

// Several threads may lower one graph at once: waiting for each other would hold up those with other graphs.
Result<std::shared_ptr<SharedGraph>> GraphCache::find_or_lower(GraphKey key) {
    std::size_t const most = core::environment::kept_graphs();
    if (most == 0) return SharedGraph::lower(std::move(key));
    if (auto known = find(key)) return known;
    auto graph = SharedGraph::lower(std::move(key));
    if (graph.is_good()) keep(graph.value(), most);
    return graph;
}

std::shared_ptr<SharedGraph> GraphCache::find(GraphKey const& key) {
    std::lock_guard const lock(mutex_);
    auto const known =
        std::ranges::find_if(last_used_first_, [&](auto const& graph) { return same_plans(graph->key(), key); });
    if (known == last_used_first_.end()) return nullptr;
    last_used_first_.splice(last_used_first_.begin(), last_used_first_, known);
    return last_used_first_.front();
}

// What falls out is destroyed after the lock is released.
void GraphCache::keep(std::shared_ptr<SharedGraph> graph, std::size_t most) {
    std::list<std::shared_ptr<SharedGraph>> out;
    std::lock_guard const lock(mutex_);
    last_used_first_.push_front(std::move(graph));
    while (last_used_first_.size() > most) {
        out.splice(out.begin(), last_used_first_, std::prev(last_used_first_.end()));
    }
}

void GraphCache::forget(SharedGraph const& graph) {
    std::lock_guard const lock(mutex_);
    std::erase_if(last_used_first_, [&](auto const& kept) { return kept.get() == &graph; });
}

void GraphCache::clear() {
    std::list<std::shared_ptr<SharedGraph>> out;
    std::lock_guard const lock(mutex_);
    out.swap(last_used_first_);
}

}  // namespace cudnn_frontend::cudnn
