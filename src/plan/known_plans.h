// The graphs that this process planned last, and the parts of programs. What is planned again gets the earlier results.
#pragma once

#include "core/process/kept_objects.h"
#include "plan/planner.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cudnn_frontend::plan {

using GraphPointer = std::shared_ptr<nodes::ValidatedGraph const>;

// Everything besides the graph on which its proposals depend.
struct PlanCircumstances {
    rewrite::Wishes wishes;
    ShapePolicy_t shape_policy;  // on the target: never AUTO
    bool slices_for_workspace, batch_invariant;
    Filters filters;  // empty unless they decide whether engines for all shapes are proposed
    std::vector<std::pair<Backend const*, std::string>> of_backends;  // the backends that serve the target

    friend bool operator==(PlanCircumstances const&, PlanCircumstances const&) = default;
};

// Graphs are found by their addresses, since equal ones are validated once. A planner without modes has no candidates.
struct PlannerKey {
    GraphPointer graph;
    PlanCircumstances circumstances;
    std::vector<HeurMode_t> modes;

    friend bool operator==(PlannerKey const&, PlannerKey const&) = default;
};

struct KeptPlanner {
    PlannerKey key;
    std::shared_ptr<Planner> planner;
};

struct PlannerKind {
    using Key = PlannerKey;
    using Object = KeptPlanner const;
    static constexpr char const* kName = "proposals";
    static Key const& key_of(Object const& kept) { return kept.key; }
    static bool is_same(Key const& a, Key const& b) { return a == b; }
    static std::size_t bytes_of(Object const& kept) { return sizeof(KeptPlanner) + kept.planner->bytes(); }
    static bool is_held(Object const& kept) { return kept.planner.use_count() > 1 || kept.planner->is_shared(); }
};

// The backends' proposals: a planner without candidates. It never changes, so that all builds of the graph share it.
Result<core::process::FoundObject<Planner>> propose_known(GraphPointer const& graph, Target const& target,
                                                          Settings const& settings, Backends const& backends);
// A planner with candidates, whose plans all programs with this part share.
Result<std::shared_ptr<Planner>> plan_part(GraphPointer const& graph, Target const& target, Settings const& settings,
                                           Backends const& backends, std::vector<HeurMode_t> const& modes);

// Drops what is known of the graph, so that it is planned anew: there was no plan of it, and the cause may be
// temporary.
void forget_plans(nodes::ValidatedGraph const& graph);
// The same for all graphs that have the same times in the plan store, whatever their names.
void forget_timed_plans(nodes::ValidatedGraph const& graph);

// The parts in which the graph and its circumstances differ from the kept ones that are most like them, for people,
// such as "tensor 0 'Q': dim [2, 8, 65, 64] in place of [2, 8, 64, 64]"; empty where no other graph is kept.
std::string difference_from_nearest(GraphPointer const& graph, Target const& target, Settings const& settings,
                                    Backends const& backends);

}  // namespace cudnn_frontend::plan
