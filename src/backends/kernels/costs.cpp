#include "kernels/costs.h"

#include "kernels/neighborhood_cost.h"
#include "kernels/neighborhood_forms.h"

namespace cudnn_frontend::kernels {

std::optional<double> Costs::of(nodes::ValidatedGraph const& graph) const {
    if (!is_neighborhood(graph)) return {};
    for (NeighborhoodForm const form : kNeighborhoodForms) {
        auto const steps = neighborhood_steps(graph, form);
        if (steps.is_bad()) return {};
        if (!steps.value().reason_against(device_).empty()) continue;
        return neighborhood_cost(steps.value(), rates_, multiprocessors_);
    }
    return {};
}

std::optional<double> Costs::of(rewrite::Joint const& joint) const {
    return rates_.start + rewrite::bytes_moved(joint) / rates_.bandwidth;
}

}  // namespace cudnn_frontend::kernels
