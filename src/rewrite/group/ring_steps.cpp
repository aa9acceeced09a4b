#include "rewrite/group/ring_steps.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

int owner_in_ring(group::Task const& task, int rank, int step) {
    return rank < step ? rank - step + task.size() : rank - step;
}

int holder_in_ring(group::Task const& task, int rank, int step) {
    return rank + step < task.size() ? rank + step : rank + step - task.size();
}

std::vector<RingPart> parts_of_ring(Attention const& attention, group::Task const& task, int rank, int step) {
    WholeBand const band(attention.fields(), task.queries.length(), task.keys.length());
    std::vector<Chunk> const own = chunks_of(task.queries, rank);
    std::vector<RingPart> parts;
    for (Chunk const& keys : chunks_of(task.keys, owner_in_ring(task, rank, step))) {
        for (std::size_t i = 0; i < own.size(); ++i) {
            auto const seen = band.visible_part(own[i].tokens, keys.tokens);
            if (!seen) continue;
            parts.push_back({i, *seen, own[i].row + seen->queries.first - own[i].tokens.first,
                             keys.row + seen->keys.first - keys.tokens.first, own[i].tokens == keys.tokens});
        }
    }
    std::stable_partition(parts.begin(), parts.end(), [](RingPart const& part) { return part.is_diagonal; });
    return parts;
}

int steps_of_ring(Attention const& attention, group::Task const& task) {
    int steps = 1;
    for (int step = 1; step < task.size(); ++step) {
        for (int rank = 0; rank < task.size() && steps <= step; ++rank) {
            if (!parts_of_ring(attention, task, rank, step).empty()) steps = step + 1;
        }
    }
    return steps;
}

}  // namespace cudnn_frontend::rewrite
