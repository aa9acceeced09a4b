#include "plan/shape_plans.h"

#include "core/findings.h"
#include "core/text.h"
#include "plan/known_plans.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

std::vector<std::int64_t> key_of(ShapeOverride const& shapes, std::vector<HeurMode_t> const& modes) {
    std::vector<std::int64_t> key{static_cast<std::int64_t>(modes.size())};
    for (HeurMode_t const mode : modes) key.push_back(static_cast<std::int64_t>(mode));
    for (std::size_t i = 0; i < shapes.uids.size(); ++i) {
        key.push_back(shapes.uids[i]);
        for (core::Dims const* const list : {&shapes.dims[i], &shapes.strides[i]}) {
            key.push_back(static_cast<std::int64_t>(list->size()));
            key.insert(key.end(), list->begin(), list->end());
        }
    }
    return key;
}

// The reason why this uid is an error, given those before it; empty if it is not.
std::string fault_of(std::vector<std::int64_t> const& uids, std::size_t at, bool is_known) {
    auto const end = uids.begin() + static_cast<std::ptrdiff_t>(at);
    bool const is_repeated = std::find(uids.begin(), end, uids[at]) != end;
    if (is_known && !is_repeated) return {};
    return "a shape is overridden for the uid " + std::to_string(uids[at]) +
           (is_known ? " more than once; name each uid once" : ", which no tensor has; get_uid() returns them");
}

error_t apply(ShapeOverride const& shapes, nodes::GraphSpec& spec) {
    std::string faults;
    for (std::size_t i = 0; i < shapes.uids.size(); ++i) {
        auto const tensor = std::find_if(spec.tensors.begin(), spec.tensors.end(),
                                         [&](nodes::TensorSpec const& t) { return t.uid == shapes.uids[i]; });
        std::string const fault = fault_of(shapes.uids, i, tensor != spec.tensors.end());
        if (fault.empty()) {
            tensor->dim = shapes.dims[i];
            tensor->stride = shapes.strides[i];
        } else {
            faults += (faults.empty() ? "" : "\n") + fault;
        }
    }
    if (faults.empty()) return {};
    return {error_code_t::INVALID_VALUE, std::move(faults)};
}

// Adds the uids whose dims the error is about, and the remedy in place of calling the setters that messages of a build
// name.
error_t under(ShapeOverride const& shapes, error_t error) {
    error.err_msg = "with the shapes that this call gives for the uids " + core::to_string(shapes.uids) +
                    ", where other tensors keep the dims and strides that were set on them (name such a tensor's uid "
                    "too, instead of calling a setter):\n" +
                    error.err_msg;
    return error;
}

Result<std::shared_ptr<Planner>> plan(Planner const& proposed, std::vector<HeurMode_t> const& modes,
                                      Filters const& filters, std::int64_t workspace_bytes) {
    auto all = proposed.with_candidates(modes);
    if (all.is_bad()) return all;
    auto planner = Planner::with_parts_within(filters, std::move(all).value());
    Filters fitting = filters;
    fitting.largest_workspace = std::min(workspace_bytes, filters.largest_workspace.value_or(workspace_bytes));
    if (planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, fitting).is_good()) return planner;
    SDPA_GRAPH_TRY(planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, filters));
    return planner;
}

}  // namespace

ShapePlans::ShapePlans(nodes::CheckedGraphPointer graph, Target target, Settings settings, Backends const& backends)
    : graph_(std::move(graph)), target_(std::move(target)), settings_(std::move(settings)), backends_(backends) {}

Result<std::shared_ptr<Planner const>> ShapePlans::plan_for(ShapeOverride const& shapes,
                                                            std::vector<HeurMode_t> const& modes,
                                                            std::int64_t workspace_bytes) {
    if (shapes.uids.size() != shapes.dims.size() || shapes.uids.size() != shapes.strides.size()) {
        return core::error_at("the overridden shapes", error_code_t::INVALID_VALUE,
                              core::text(shapes.uids.size(), " uids, ", shapes.dims.size(), " dims and ",
                                         shapes.strides.size(), " strides"),
                              "one of each for every tensor");
    }
    auto const key = key_of(shapes, modes);
    std::lock_guard const lock(mutex_);
    if (auto const known = plans_.find(key); known != plans_.end()) return known->second;
    auto planner = build(shapes, modes, workspace_bytes);
    if (planner.is_good()) plans_[key] = planner.value();
    return planner;
}

nodes::GraphSpec ShapePlans::description() const {
    nodes::GraphSpec spec = graph_->described;
    for (std::size_t i = 0; i < spec.tensors.size(); ++i) spec.tensors[i].uid = graph_->graph.spec().tensors[i].uid;
    return spec;
}

Result<std::shared_ptr<Planner const>> ShapePlans::build(ShapeOverride const& shapes,
                                                         std::vector<HeurMode_t> const& modes,
                                                         std::int64_t workspace_bytes) const {
    nodes::GraphSpec spec = description();
    SDPA_GRAPH_TRY(apply(shapes, spec));
    auto const checked = nodes::check(spec);
    if (checked.is_bad()) return under(shapes, checked.error());
    auto const proposed = propose_known(nodes::graph_of(checked.value().object), target_, settings_, backends_);
    if (proposed.is_bad()) return under(shapes, proposed.error());
    auto planner = plan(*proposed.value().object, modes, settings_.filters, workspace_bytes);
    if (planner.is_bad()) return under(shapes, planner.error());
    return std::shared_ptr<Planner const>(std::move(planner).value());
}

}  // namespace cudnn_frontend::plan
