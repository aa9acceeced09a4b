// The plans of one graph for other shapes than its own, each made at a shape's first run.
#pragma once

#include "nodes/validation/checked_graphs.h"
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
    // Inferred values of the graph are inferred again from other shapes.
    ShapePlans(nodes::CheckedGraphPointer graph, Target target, Settings settings, Backends const& backends);

    // The plan is by an engine of these modes, and keeps to the caller's workspace, where there is one. May be called
    // from many threads at once.
    Result<std::shared_ptr<Planner const>> plan_for(ShapeOverride const& shapes, std::vector<HeurMode_t> const& modes,
                                                    std::int64_t workspace_bytes);

   private:
    Result<std::shared_ptr<Planner const>> build(ShapeOverride const& shapes, std::vector<HeurMode_t> const& modes,
                                                 std::int64_t workspace_bytes) const;
    // The description with the graph's uids.
    nodes::GraphSpec description() const;

    nodes::CheckedGraphPointer graph_;
    Target target_;
    Settings settings_;
    Backends const& backends_;
    std::mutex mutex_;
    std::map<std::vector<std::int64_t>, std::shared_ptr<Planner const>> plans_;
};

}  // namespace cudnn_frontend::plan
