// The graphs that this process built last. A graph that is described again gets the earlier results of validation and
// of the backends.
#pragma once

#include "api/graph/description.h"
#include "core/last_used.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::api {

// The result of a look-up, and whether it was there already.
template <class T>
struct Found {
    std::shared_ptr<T> object;
    bool is_known;
};

// Everything besides the graph on which its proposals depend.
struct Circumstances {
    rewrite::Wishes wishes;
    bool slices_for_workspace;
    std::vector<std::pair<plan::Backend const*, std::string>> of_backends;  // the backends that serve the target

    friend bool operator==(Circumstances const&, Circumstances const&) = default;
};

// As many of each are kept as the process's settings allow. Safe from many threads; two threads that come with one new
// graph may both do its work.
class KnownGraphs {
   public:
    // Never destroyed: static objects of a program may build graphs when this library's are gone.
    static KnownGraphs& of_process();

    // An error describes the graph's faults.
    Result<Found<plan::CheckedGraph const>> check(Description const& described);
    // The backends' proposals for a graph from check(): a planner without candidates. It never changes, so that all
    // builds of the graph share it.
    Result<Found<plan::Planner>> propose(std::shared_ptr<plan::CheckedGraph const> const& graph, Target const& target,
                                         plan::Settings const& settings, plan::Backends const& backends);

    // Drops the proposals for the graph, so that they are made anew: there was no plan of it, and the cause may be
    // temporary.
    void forget(plan::CheckedGraph const& graph);
    void keep_at_most(std::size_t most);

   private:
    struct Proposed {
        std::shared_ptr<plan::CheckedGraph const> graph;
        Circumstances circumstances;
        std::shared_ptr<plan::Planner> planner;
    };

    core::LastUsed<plan::CheckedGraph const> checked_;
    core::LastUsed<Proposed const> proposed_;
};

}  // namespace cudnn_frontend::api
