// The lowered graphs that this process used last: building one of them again neither lowers nor compiles it again.
#pragma once

#include "core/last_used.h"
#include "cudnn/planning/shared_graph.h"

namespace cudnn_frontend::cudnn {

class GraphCache {
   public:
    // Never destroyed: its contents belong to a library that may be gone before this process's static objects are.
    static GraphCache& of_process();

    // The kept graph that equals this one. If there is none, it is lowered, and kept as far as the process's settings
    // allow.
    Result<std::shared_ptr<SharedGraph>> find_or_lower(GraphKey key);
    // Drops the graph, so that the next equal one is lowered anew: for a graph that gave no plan, since the cause may
    // be temporary.
    void forget(SharedGraph const& graph);
    void keep_at_most(std::size_t most) { graphs_.keep_at_most(most); }

   private:
    core::LastUsed<SharedGraph> graphs_;
};

}  // namespace cudnn_frontend::cudnn
