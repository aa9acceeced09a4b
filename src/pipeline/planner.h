// The build stages: what each makes, kept as a value that the next stage starts from.
#pragma once

#include "core/result.h"
#include "ir/op_graph.h"
#include "nodes/validate.h"
#include "pipeline/plan.h"

#include <cudnn_frontend/target.h>

#include <memory>
#include <vector>

namespace cudnn_frontend::inline v1::pipeline {

class Planner {
   public:
    // The op graph of a validated graph for a target. The id is that of the user's graph.
    static Result<std::shared_ptr<Planner const>> lower(nodes::ValidatedGraph const& graph, std::uint64_t graph_id,
                                                        Target const& target);

    // The same with the candidates for a plan: a CPU target has one for any heuristics, and none without.
    std::shared_ptr<Planner const> with_candidates(std::vector<HeurMode_t> const& modes) const;
    // The same with the plan built.
    Result<std::shared_ptr<Planner const>> with_plan() const;

    std::int64_t candidate_count() const { return candidate_count_; }
    Plan const* plan() const { return plan_.get(); }

   private:
    Planner(Target const& target, std::uint64_t graph_id, std::shared_ptr<ir::OpGraph const> op_graph)
        : target_(target), graph_id_(graph_id), op_graph_(std::move(op_graph)) {}

    Target target_;
    std::uint64_t graph_id_;
    std::shared_ptr<ir::OpGraph const> op_graph_;
    std::int64_t candidate_count_ = 0;
    std::shared_ptr<Plan const> plan_;
};

}  // namespace cudnn_frontend::inline v1::pipeline
