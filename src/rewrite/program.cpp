#include "rewrite/program.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

bool has_joints(Program const& program) {
    return std::ranges::any_of(program.steps, [](Step const& step) { return std::holds_alternative<Joint>(step); });
}

std::vector<Place> places_of(Joint const& joint) {
    if (auto const* sum = std::get_if<Sum>(&joint)) return {sum->terms.place, sum->result.place};
    if (auto const* split = std::get_if<SplitLengths>(&joint)) {
        return {split->queries.place, split->keys.place, split->rows.place, split->part_keys.place};
    }
    auto const& merge = std::get<Merge>(joint);
    std::vector<Place> places{merge.partial_o.place, merge.partial_stats.place, merge.o.place};
    if (merge.stats) places.push_back(merge.stats->place);
    if (merge.partial_lengths) places.push_back(merge.partial_lengths->place);
    return places;
}

}  // namespace cudnn_frontend::rewrite
