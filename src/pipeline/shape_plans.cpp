#include "pipeline/shape_plans.h"

#include <algorithm>

namespace cudnn_frontend::inline v1::pipeline {
namespace {

std::vector<std::int64_t> key_of(ShapeOverride const& shapes) {
    std::vector<std::int64_t> key;
    for (std::size_t i = 0; i < shapes.uids.size(); ++i) {
        key.push_back(shapes.uids[i]);
        for (core::Dims const* const list : {&shapes.dims[i], &shapes.strides[i]}) {
            key.push_back(static_cast<std::int64_t>(list->size()));
            key.insert(key.end(), list->begin(), list->end());
        }
    }
    return key;
}

error_t apply(ShapeOverride const& shapes, nodes::GraphSpec& spec) {
    for (std::size_t i = 0; i < shapes.uids.size(); ++i) {
        auto const tensor = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                         [&](nodes::TensorSpec const& t) { return t.uid == shapes.uids[i]; });
        if (tensor == spec.tensors.end()) {
            return {error_code_t::INVALID_VALUE,
                    "a shape is overridden for the uid " + std::to_string(shapes.uids[i]) + ", which no tensor has"};
        }
        tensor->dim = shapes.dims[i];
        tensor->stride = shapes.strides[i];
    }
    return {};
}

}  // namespace

ShapePlans::ShapePlans(nodes::ValidatedGraph graph, std::uint64_t graph_id, Target target, graph::PlanSettings settings)
    : graph_(std::move(graph)), graph_id_(graph_id), target_(std::move(target)), settings_(std::move(settings)) {}

Result<std::shared_ptr<Planner const>> ShapePlans::plan_for(ShapeOverride const& shapes) {
    if (shapes.uids.size() != shapes.dims.size() || shapes.uids.size() != shapes.strides.size()) {
        return error_t(error_code_t::INVALID_VALUE, "the override names " + std::to_string(shapes.uids.size()) +
                                                        " uids, " + std::to_string(shapes.dims.size()) + " dims and " +
                                                        std::to_string(shapes.strides.size()) +
                                                        " strides; needed is one of each for every tensor");
    }
    auto const key = key_of(shapes);
    std::lock_guard const lock(mutex_);
    if (auto const known = plans_.find(key); known != plans_.end()) return known->second;
    auto planner = build(shapes);
    if (planner.is_good()) plans_[key] = planner.value();
    return planner;
}

Result<std::shared_ptr<Planner const>> ShapePlans::build(ShapeOverride const& shapes) const {
    nodes::GraphSpec spec = graph_.spec();
    SDPA_GRAPH_TRY(apply(shapes, spec));
    auto const validation = nodes::validate(std::move(spec));
    if (!validation.graph) return validation.report.to_error();
    auto lowered = Planner::lower({*validation.graph, graph_id_, target_, settings_});
    if (lowered.is_bad()) return lowered.error();
    auto planner = lowered.value()->with_candidates({HeurMode_t::A, HeurMode_t::FALLBACK});
    if (planner.is_bad()) return planner.error();
    SDPA_GRAPH_TRY(planner.value()->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, settings_.filters));
    return std::shared_ptr<Planner const>(std::move(planner).value());
}

}  // namespace cudnn_frontend::inline v1::pipeline
