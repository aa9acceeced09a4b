// The parts of attention that each rank computes at each step of a ring, in which shards of keys and values go from
// rank to rank.
#pragma once

#include "rewrite/group/chunks.h"

namespace cudnn_frontend::rewrite {

// A chunk of the rank's queries and a chunk of a shard's keys: what they see of each other.
struct RingPart {
    std::size_t chunk;  // of the rank's
    BandPart band;
    std::int64_t row, key_row;  // of the first query in the rank's tensors, and of the first key in the shard
    bool is_diagonal;           // the same chunk of both, whose queries and keys all see themselves
};

// The owner of the shard that a rank has at a step, and the rank that has this one's shard then. At the first step both
// are the rank.
int owner_in_ring(group::Task const& task, int rank, int step);
int holder_in_ring(group::Task const& task, int rank, int step);

// Parts on the diagonal come first.
std::vector<RingPart> parts_of_ring(Attention const& attention, group::Task const& task, int rank, int step);

// The number of steps up to the last one in which some rank attends to anything.
int steps_of_ring(Attention const& attention, group::Task const& task);

}  // namespace cudnn_frontend::rewrite
