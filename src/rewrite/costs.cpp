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
    if (auto const* sum = std::get_if<Sum>(&joint)) {
        return bytes_of(sum->terms) + bytes_of(sum->result) * (sum->accumulates ? 2.0 : 1.0);
    }
    auto const& merge = std::get<Merge>(joint);
    double const stats = merge.stats ? bytes_of(*merge.stats) : 0.0;
    return bytes_of(merge.partial_o) + bytes_of(merge.partial_stats) + bytes_of(merge.o) + stats;
}

std::optional<double> cost_of(Program const& program, Costs const& costs) {
    double all = 0.0;
    for (Step const& step : program.steps) {
        if (auto const* joint = std::get_if<Joint>(&step)) {
            all += costs.of(*joint);
            continue;
        }
        auto const cost = costs.of(std::get<Attend>(step).graph->spec());
        if (!cost) return {};
        all += *cost;
    }
    return all;
}

}  // namespace cudnn_frontend::rewrite
