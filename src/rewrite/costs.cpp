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
    if (auto const* split = std::get_if<SplitLengths>(&joint)) {
        return bytes_of(split->queries) + bytes_of(split->keys) + bytes_of(split->rows) + bytes_of(split->part_keys);
    }
    auto const& merge = std::get<Merge>(joint);
    auto const of = [](std::optional<View> const& view) { return view ? bytes_of(*view) : 0.0; };
    return bytes_of(merge.partial_o) + bytes_of(merge.partial_stats) + bytes_of(merge.o) + of(merge.stats) +
           of(merge.partial_lengths);
}

std::optional<double> cost_of(Program const& program, Costs const& costs) {
    double all = 0.0;
    for (Step const& step : program.steps) {
        auto const* const joint = std::get_if<Joint>(&step);
        auto const cost = joint != nullptr ? costs.of(*joint) : costs.of(*std::get<Attend>(step).graph);
        if (!cost) return {};
        all += *cost;
    }
    return all;
}

}  // namespace cudnn_frontend::rewrite
