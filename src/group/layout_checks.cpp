#include "group/layout_checks.h"

#include "core/text.h"

#include <algorithm>
#include <vector>

namespace cudnn_frontend::group {

std::string fault_of(sdpa_graph::Layout const& layout) {
    using sdpa_graph::Token_range;
    std::vector<Token_range> all;
    for (int rank = 0; rank < layout.ranks(); ++rank) {
        auto const& ranges = layout.ranges_of(rank);
        if (ranges.empty()) return core::text("rank ", rank, " has no token");
        all.insert(all.end(), ranges.begin(), ranges.end());
    }
    std::ranges::sort(all, {}, &Token_range::first);
    std::int64_t next = 0;
    for (Token_range const& range : all) {
        if (range.count < 1) return core::text("a range of ", range.count, " tokens from ", range.first);
        if (range.first > next) return core::text("tokens ", next, " to ", range.first - 1, " are of no rank");
        if (range.first < next) return core::text("token ", range.first, " is before 0 or of two ranges");
        next += range.count;
    }
    return {};
}

}  // namespace cudnn_frontend::group
