// The plan of GATHER: the attentions over a rank's queries, the keys that these read from a buffer, and in backward
// where each writes gradients of keys and values, and how many are added up.
#pragma once

#include "rewrite/group/chunks.h"

#include <optional>
#include <span>
#include <vector>

namespace cudnn_frontend::rewrite {

// Consecutive queries of a rank, and the attentions over all or some of them, each over other keys.
struct QueryPart : QueryChunk {
    std::vector<BandPart> attentions = {};
};

// A rank's attentions, and which keys each reads where.
class GatheredKeys {
   public:
    // The chunks of all ranks stay where they are. Attentions may read the caller's tensors if `can_be_in_place`.
    GatheredKeys(Attention const& attention, group::Task const& task, std::vector<QueryChunk> const& chunks, int rank,
                 bool can_be_in_place);

    std::vector<QueryPart> const& queries() const { return queries_; }
    // The one of the rank's ranges that contains all these keys: attentions over them read the caller's tensors, and
    // need no exchange.
    std::optional<Chunk> own_range(Span const& keys) const;
    // The tokens whose keys attentions read from the buffer.
    std::vector<Span> read_tokens() const;
    // The rank's own tokens whose keys other ranks need.
    std::vector<Span> sent_tokens() const;
    // The tokens whose keys the buffer holds.
    std::vector<Span> buffered_tokens(bool are_sent_from_buffer) const;

   private:
    void add_queries(QueryChunk const& chunk);
    void add_queries(QueryChunk const& chunk, Span const& queries);
    void add_whole(QueryChunk const& queries);

    Attention const& a_;
    group::Task const& task_;
    std::vector<QueryChunk> const& chunks_;
    int rank_;
    bool can_be_in_place_;
    WholeBand band_;
    std::vector<QueryPart> queries_;
};

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

// Empty in forward.
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
    // A rank's keys, in pieces between which the attentions that see them change. Whether terms are in place is right
    // for this rank's keys alone: another one's tensors may have other strides.
    std::vector<SeenKeys> of_rank(int rank) const;

   private:
    std::vector<Span> const& attended(QueryChunk const& chunk) const;
    std::span<QueryChunk const> chunks_that_see(Span const& keys) const;
    std::vector<Span> cut(Span const& keys) const;
    bool is_first_in_place(Span const& keys) const;

    group::Task const& task_;
    std::vector<QueryChunk> const& chunks_;
    std::vector<std::vector<Span>> attended_;  // for each chunk
    bool can_be_in_place_;
};

}  // namespace cudnn_frontend::rewrite
