// The gradients of keys and values in backward by GATHER: where each attention writes them, and how many are added up.
#pragma once

#include "rewrite/group/chunks.h"

#include <span>
#include <vector>

namespace cudnn_frontend::rewrite {

// The attentions over a chunk's queries in backward. Each of its keys is in one.
std::vector<BandPart> parts_of_backward(Attention const& attention, WholeBand const& band, QueryChunk const& chunk);

// Consecutive keys of a rank, and the chunks that see them all. The results of these keys are the sums of what the
// chunks make, in the order of the sequence.
struct SeenKeys : Chunk {
    std::span<QueryChunk const> seen_by;
    bool is_first_in_place;  // the first chunk's attention writes to the results

    // The chunks whose gradients are added up, or added to the results.
    std::span<QueryChunk const> added() const { return seen_by.subspan(is_first_in_place ? 1 : 0); }
    // The only one that is added is the rank's own, which needs no place next to others.
    bool adds_own_alone() const { return added().size() == 1 && added().front().rank == rank; }
    // How many gradients are next to each other in scratch to be added up.
    std::int64_t terms() const { return adds_own_alone() ? 0 : static_cast<std::int64_t>(added().size()); }
};

class KeyGradients {
   public:
    // The chunks of all ranks stay where they are. Attentions may write to results of this rank if `can_be_in_place`.
    KeyGradients(Attention const& attention, group::Task const& task, std::vector<QueryChunk> const& chunks,
                 bool can_be_in_place);

    // The keys of one of the rank's own ranges, if the attention over these keys writes to the results: all of its keys
    // are in the range, and no chunk before this one sees them.
    std::optional<Chunk> range_in_place(QueryChunk const& chunk, Span const& keys) const;
    // The keys whose gradients the chunk's attentions write elsewhere.
    Span keys_elsewhere(QueryChunk const& chunk) const;
    // A rank's keys, in pieces between which the attentions that see them change.
    std::vector<SeenKeys> of_rank(int rank) const;

   private:
    std::vector<Span> attended(QueryChunk const& chunk) const;
    std::span<QueryChunk const> chunks_that_see(Span const& keys) const;
    std::vector<Span> cut(Span const& keys) const;
    bool is_first_in_place(Span const& keys) const;

    Attention const& a_;
    group::Task const& task_;
    std::vector<QueryChunk> const& chunks_;
    WholeBand band_;
    bool can_be_in_place_;
};

}  // namespace cudnn_frontend::rewrite
