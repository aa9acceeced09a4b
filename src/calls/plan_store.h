// A graph's place in the plan store of the process.
#pragma once

#include "calls/plan_folder.h"

#include <cudnn_frontend/graph.h>

#include <cstdint>
#include <optional>

namespace sdpa_graph::calls {

class StoredPlan {
   public:
    // The graph is described and not built: building fills in what the description leaves open. Empty if there is no
    // store, or the target is not a GPU.
    static std::optional<StoredPlan> of(cudnn_frontend::graph::Graph const& described,
                                        cudnn_frontend::Target const& target, std::int32_t device);

    // Gives the graph the plan that is stored; false if there is none, and the graph is as it was. The log says why.
    bool load(cudnn_frontend::graph::Graph& graph, cudnn_frontend::Target const& target) const;
    // Stores the plan of the graph, which is built. The log says if that fails.
    void store(cudnn_frontend::graph::Graph const& built) const;

   private:
    StoredPlan(PlanFolder folder, std::string key, bool is_frozen)
        : folder_(std::move(folder)), key_(std::move(key)), is_frozen_(is_frozen) {}

    PlanFolder folder_;
    std::string key_;  // the whole graph, and all that a plan depends on besides
    bool is_frozen_;
};

}  // namespace sdpa_graph::calls
