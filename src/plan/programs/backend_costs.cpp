#include "plan/programs/backend_costs.h"

namespace cudnn_frontend::plan {

rewrite::Costs const* BackendCosts::costs_of(std::size_t backend) const {
    Figures& figures = figures_[backend];
    if (!figures.is_known) figures = {true, backends_[backend]->costs(target_, settings_)};
    return figures.costs.get();
}

template <class Work, class Runs>
std::optional<double> BackendCosts::first_known(Work const& work, Runs const& runs) const {
    for (std::size_t i = 0; i < backends_.size(); ++i) {
        if (!runs(*backends_[i])) continue;
        rewrite::Costs const* const costs = costs_of(i);
        auto const cost = costs == nullptr ? std::nullopt : costs->of(work);
        if (cost) return cost;
    }
    return {};
}

std::optional<double> BackendCosts::of(nodes::ValidatedGraph const& graph) const {
    return first_known(graph, [&](Backend const& backend) { return backend.serves(target_) && backend.takes(graph); });
}

std::optional<double> BackendCosts::of(rewrite::Joint const& joint) const {
    return first_known(joint, [&](Backend const& backend) { return backend.joins(target_); });
}

}  // namespace cudnn_frontend::plan
