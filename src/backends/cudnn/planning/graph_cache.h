// The lowered graphs that this process used last: building one of them again neither lowers nor compiles it again.
#pragma once

#include "cudnn/planning/shared_graph.h"

#include <list>
#include <mutex>

namespace cudnn_frontend::cudnn {

class GraphCache {
   public:
    // Never destroyed: what it holds belongs to a library that may be gone before this process's static objects are.
    static GraphCache& of_process();

    // The equal graph that is kept; else it is lowered, and kept as far as core::environment::kept_graphs() allows.
    Result<std::shared_ptr<SharedGraph>> find_or_lower(GraphKey key);
    // The next equal graph is lowered anew: for one that gave no plan, since the cause may pass.
    void forget(SharedGraph const& graph);
    void clear();

   private:
    std::shared_ptr<SharedGraph> find(GraphKey const& key);
    void keep(std::shared_ptr<SharedGraph> graph, std::size_t most);

    std::mutex mutex_;
    std::list<std::shared_ptr<SharedGraph>> last_used_first_;
};

}  // namespace cudnn_frontend::cudnn
