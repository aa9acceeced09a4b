// The plans of one graph for other shapes than its own, made when a shape is first met.
#pragma once

#include "plan/planner.h"

#include <map>
#include <mutex>

namespace cudnn_frontend::plan {

// Dims and strides in place of a graph's own, for the tensors of these uids.
struct ShapeOverride {
    std::vector<std::int64_t> const& uids;
    std::vector<core::Dims> const& dims;
    std::vector<core::Dims> const& strides;
};

class ShapePlans {
   public:
    // The graph, and the description that it came from: what was inferred there follows from other shapes again.
    ShapePlans(nodes::GraphSpec described, nodes::ValidatedGraph graph, Target target, Settings settings,
               Backends const& backends);

    nodes::GraphSpec const& spec() const { return graph_.spec(); }
    Target const& target() const { return target_; }
    PlanningInput input() const { return {graph_, target_, settings_}; }
    Result<std::shared_ptr<Planner>> propose() const { return Planner::propose(input(), backends_); }
    Result<std::shared_ptr<Planner>> load(std::string_view stored) const {
        return Planner::load(input(), backends_, stored);
    }

    // Safe from many threads.
    Result<std::shared_ptr<Planner const>> plan_for(ShapeOverride const& shapes);

   private:
    Result<std::shared_ptr<Planner const>> build(ShapeOverride const& shapes) const;
    // The description with the graph's uids.
    nodes::GraphSpec description() const;

    nodes::GraphSpec described_;
    nodes::ValidatedGraph graph_;
    Target target_;
    Settings settings_;
    Backends const& backends_;
    std::mutex mutex_;
    std::map<std::vector<std::int64_t>, std::shared_ptr<Planner const>> plans_;
};

}  // namespace cudnn_frontend::plan
