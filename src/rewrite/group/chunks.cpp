#include "rewrite/group/chunks.h"

#include "rewrite/group/documents.h"
#include "rewrite/group/token_rows.h"

#include <algorithm>
#include <iterator>

namespace cudnn_frontend::rewrite {

std::vector<Chunk> chunks_of(group::Layout const& layout, int rank) {
    std::vector<Chunk> chunks;
    std::int64_t row = 0;
    for (group::Token_range const& range : layout.ranges_of(rank)) {
        chunks.push_back({rank, {range.first, range.first + range.count}, row});
        row += range.count;
    }
    return chunks;
}

std::vector<Chunk> chunks_of(group::Layout const& layout) {
    std::vector<Chunk> all;
    for (int rank = 0; rank < layout.ranks(); ++rank) {
        std::ranges::copy(chunks_of(layout, rank), std::back_inserter(all));
    }
    std::ranges::sort(all, {}, [](Chunk const& chunk) { return chunk.tokens.first; });
    return all;
}

std::vector<Span> tokens_of(group::Layout const& layout, int rank) {
    std::vector<Span> spans;
    for (Chunk const& chunk : chunks_of(layout, rank)) spans.push_back(chunk.tokens);
    return merged(std::move(spans));
}

std::optional<Chunk> range_with(group::Layout const& layout, int rank, Span const& tokens) {
    for (Chunk const& range : chunks_of(layout, rank)) {
        if (common(range.tokens, tokens) == tokens) return range;
    }
    return {};
}

std::vector<QueryChunk> query_chunks(Attention const& attention, group::Task const& task) {
    WholeBand const band(attention.fields(), task.queries.length(), task.keys.length());
    std::vector<QueryChunk> all;
    for (Chunk const& chunk : chunks_of(task.queries)) {
        Span const visible = band.keys_of(chunk.tokens);
        all.push_back({chunk, common(visible, keys_of_documents(attention, chunk.tokens))});
    }
    if (!attention.is_backward()) return all;
    all.front().keys.first = 0;
    all.back().keys.end = task.keys.length();
    return all;
}

std::vector<Span> keys_for(int rank, std::vector<QueryChunk> const& chunks) {
    std::vector<Span> spans;
    for (QueryChunk const& chunk : chunks) {
        if (chunk.rank == rank) spans.push_back(chunk.keys);
    }
    return merged(std::move(spans));
}

}  // namespace cudnn_frontend::rewrite
