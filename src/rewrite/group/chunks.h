// The tokens of each rank, and the keys that its queries attend to.
#pragma once

#include "group/task.h"
#include "rewrite/attention_node.h"
#include "rewrite/group/whole_band.h"

#include <optional>
#include <vector>

namespace cudnn_frontend::rewrite {

// Consecutive tokens of one rank: places in the whole sequence, and the row of the rank's tensors that has the first.
struct Chunk {
    int rank;
    Span tokens;
    std::int64_t row;

    friend bool operator==(Chunk const&, Chunk const&) = default;
};

// Consecutive queries, and the keys that they attend to.
struct QueryChunk : Chunk {
    Span keys;
};

// The ranges of a layout, in the order of the sequence; those of one rank in the order of its rows.
std::vector<Chunk> chunks_of(group::Layout const& layout);
std::vector<Chunk> chunks_of(group::Layout const& layout, int rank);
// The tokens of a rank: spans that neither overlap nor touch.
std::vector<Span> tokens_of(group::Layout const& layout, int rank);

// The one of a rank's ranges that contains all these tokens.
std::optional<Chunk> range_with(group::Layout const& layout, int rank, Span const& tokens);

// The chunks in the order of the sequence, in which also their first and last keys ascend. In backward every key
// belongs to some chunk, so that each gets a gradient.
std::vector<QueryChunk> query_chunks(Attention const& attention, group::Task const& task);

// The keys that a rank's chunks attend to: spans that neither overlap nor touch.
std::vector<Span> keys_for(int rank, std::vector<QueryChunk> const& chunks);

}  // namespace cudnn_frontend::rewrite
