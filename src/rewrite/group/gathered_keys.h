// The queries of a rank in GATHER: the attentions over them, and the keys that these read from a buffer.
#pragma once

#include "rewrite/group/chunks.h"

#include <optional>
#include <vector>

namespace cudnn_frontend::rewrite {

// Consecutive queries of a rank, and the attentions over all or some of them, each over other keys.
struct QueryPart : QueryChunk {
    std::vector<BandPart> attentions = {};
};

class GatheredKeys {
   public:
    // The chunks of all ranks stay where they are.
    GatheredKeys(Attention const& attention, group::Task const& task, std::vector<QueryChunk> const& chunks, int rank);

    std::vector<QueryPart> const& queries() const { return queries_; }
    // The range of the rank's own that has all these keys: attentions over them read the caller's tensors, and need no
    // exchange.
    std::optional<Chunk> own_range(Span const& keys) const;
    // The tokens whose keys the buffer holds: those that attentions read there, and those that are sent from it.
    std::vector<Span> tokens() const;

   private:
    void add_queries(QueryChunk const& chunk);
    void add_queries(QueryChunk const& chunk, Span const& queries);
    void add_whole(QueryChunk const& queries);

    Attention const& a_;
    group::Task const& task_;
    std::vector<QueryChunk> const& chunks_;
    int rank_;
    WholeBand band_;
    std::vector<QueryPart> queries_;
};

}  // namespace cudnn_frontend::rewrite
