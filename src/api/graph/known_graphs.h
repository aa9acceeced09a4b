// The graphs that this process validated last. A graph that is described again gets the earlier result.
#pragma once

#include "api/graph/description.h"
#include "core/last_used.h"
#include "plan/known_plans.h"
#include "plan/shape_plans.h"

#include <cstddef>
#include <memory>

namespace cudnn_frontend::api {

// As many as the process's settings allow. Safe from many threads; two threads that come with one new graph may both do
// its work.
class KnownGraphs {
   public:
    // Never destroyed: static objects of a program may build graphs when this library's are gone.
    static KnownGraphs& of_process();

    // An error describes the graph's faults.
    Result<plan::FoundObject<plan::CheckedGraph const>> check(Description const& described);

    void keep_at_most(std::size_t most) { checked_.keep_at_most(most); }

   private:
    core::LastUsed<plan::CheckedGraph const> checked_;
};

// The graph of a description, which keeps the description.
inline plan::KnownPlans::GraphPointer graph_of(std::shared_ptr<plan::CheckedGraph const> const& checked) {
    return {checked, &checked->graph};
}

}  // namespace cudnn_frontend::api
