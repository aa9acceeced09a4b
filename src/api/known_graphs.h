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

namespace cudnn_frontend::api {

// What a look-up gives, and whether it was there already.
template <class T>
struct Found {
    std::shared_ptr<T const> object;
    bool is_known;
};

// As many of each are kept as the process's settings allow. Safe from many threads; two that come with one new graph
// may both do its work.
class KnownGraphs {
   public:
    // Never destroyed: static objects of a program may build graphs when this library's are gone.
    static KnownGraphs& of_process();

    // An error says what is wrong with the graph.
    Result<Found<plan::CheckedGraph>> check(Description const& described);
    // A planner without candidates: what the backends propose for a graph from check().
    Result<Found<plan::Planner>> propose(std::shared_ptr<plan::CheckedGraph const> const& graph, Target const& target,
                                         plan::Settings const& settings, plan::Backends const& backends);

    // What was proposed for the graph is proposed anew: there was no plan of it, and the cause may pass.
    void forget(plan::CheckedGraph const& graph);
    void keep_at_most(std::size_t most);

   private:
    struct Proposed {
        std::shared_ptr<plan::CheckedGraph const> graph;
        std::string circumstances;
        std::shared_ptr<plan::Planner const> planner;
    };

    core::LastUsed<plan::CheckedGraph const> checked_;
    core::LastUsed<Proposed const> proposed_;
};

}  // namespace cudnn_frontend::api
