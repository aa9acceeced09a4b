#include "rewrite/costs.h"

#include "core/data_type.h"

namespace cudnn_frontend::rewrite {
namespace {

double bytes_of(View const& view) {
    double bytes = static_cast<double>(core::size_of(view.type));
    for (std::size_t dim = 0; dim < view.dim.size(); ++dim) {
        if (view.stride[dim] != 0) bytes *= static_cast<double>(view.dim[dim]);
    }
    return bytes;
}

}  // namespace

double bytes_moved(Joint const& joint) {
    auto const* sum = std::get_if<Sum>(&joint);
    double bytes = sum != nullptr && sum->accumulates ? bytes_of(sum->result) : 0.0;
    for (StepOperand const& operand : operands_of(joint)) bytes += bytes_of(operand.view);
    return bytes;
}

std::optional<double> cost_of(Program const& program, Costs const& costs) {
    double all = 0.0;
    for (Step const& step : program.steps) {
        auto const* const joint = std::get_if<Joint>(&step);
        auto const* const attend = std::get_if<Attend>(&step);
        if (joint == nullptr && attend == nullptr) continue;  // behind attentions
        auto const cost = joint != nullptr ? costs.of(*joint) : costs.of(*attend->graph);
        if (!cost) return {};
        all += *cost;
    }
    return all;
}

}  // namespace cudnn_frontend::rewrite
