// The graphs that this process planned last, and the parts of programs. What is planned again gets the earlier results.
#pragma once

#include "core/last_used.h"
#include "plan/planner.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::plan {

// The result of a look-up, and whether it was there already.
template <class T>
struct FoundObject {
    std::shared_ptr<T> object;
    bool is_known;
};

// Everything besides the graph on which its proposals depend.
struct PlanCircumstances {
    rewrite::Wishes wishes;
    bool slices_for_workspace, wants_class;
    std::vector<std::pair<Backend const*, std::string>> of_backends;  // the backends that serve the target

    friend bool operator==(PlanCircumstances const&, PlanCircumstances const&) = default;
};

// As many as the process's settings allow. Graphs are found by their addresses, since the layers that validate them
// keep equal ones once. Safe from many threads; two threads that come with one new graph may both do its work, but not
// with a new part of programs.
class KnownPlans {
   public:
    using GraphPointer = std::shared_ptr<nodes::ValidatedGraph const>;

    // Never destroyed: static objects of a program may build graphs when this library's are gone.
    static KnownPlans& of_process();

    // The backends' proposals: a planner without candidates. It never changes, so that all builds of the graph share
    // it.
    Result<FoundObject<Planner>> propose(GraphPointer const& graph, Target const& target, Settings const& settings,
                                         Backends const& backends);
    // A planner with candidates, whose plans all programs with this part share.
    Result<std::shared_ptr<Planner>> plan_part(GraphPointer const& graph, Target const& target,
                                               Settings const& settings, Backends const& backends,
                                               std::vector<HeurMode_t> const& modes);

    // Drops the proposals for the graph, so that they are made anew: there was no plan of it, and the cause may be
    // temporary.
    void forget(nodes::ValidatedGraph const& graph);
    void keep_at_most(std::size_t most);

   private:
    // Planners, each with the modes that were asked for.
    using KnownCandidates = std::vector<std::pair<std::vector<HeurMode_t>, std::shared_ptr<Planner>>>;
    struct KnownProposals {
        GraphPointer graph;
        PlanCircumstances circumstances;
        std::shared_ptr<Planner> planner;
        std::shared_ptr<KnownCandidates> candidates = std::make_shared<KnownCandidates>();
    };
    using FoundKnown = FoundObject<KnownProposals const>;

    Result<FoundKnown> find_or_propose(GraphPointer const& graph, Target const& target, Settings const& settings,
                                       Backends const& backends);

    core::LastUsed<KnownProposals const> known_;
    // Held while a part is proposed, so that threads with equal parts get one plan. Parts of parts are planned within.
    std::recursive_mutex planning_part_;
};

}  // namespace cudnn_frontend::plan
