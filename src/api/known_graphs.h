// The graphs that this process built last: whoever describes one of them again gets what validation and the backends
// made of it.
#pragma once

#include "api/description.h"
#include "core/last_used.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::api {

// What a look-up gives, and whether it was there already.
template <class T>
struct Found {
    std::shared_ptr<T> object;
    bool is_known;
};

// All that the proposals for a graph depend on beside the graph.
struct Circumstances {
    rewrite::Wishes wishes;
    bool slices_for_workspace;
    std::vector<std::pair<plan::Backend const*, std::string>> of_backends;  // of those that serve the target

    friend bool operator==(Circumstances const&, Circumstances const&) = default;
};

// As many of each are kept as the process's settings allow. Safe from many threads; two that come with one new graph
// may both do its work.
class KnownGraphs {
   public:
    // Never destroyed: static objects of a program may build graphs when this library's are gone.
    static KnownGraphs& of_process();

    // An error says what is wrong with the graph.
    Result<Found<plan::CheckedGraph const>> check(Description const& described);
    // What the backends propose for a graph from check(): a planner without candidates, in which nothing ever changes,
    // so that all who build the graph share it.
    Result<Found<plan::Planner>> propose(std::shared_ptr<plan::CheckedGraph const> const& graph, Target const& target,
                                         plan::Settings const& settings, plan::Backends const& backends);

    // What was proposed for the graph is proposed anew: there was no plan of it, and the cause may pass.
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
