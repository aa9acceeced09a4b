#include "rewrite/group/gathered_keys.h"

#include "rewrite/group/documents.h"
#include "rewrite/group/key_gradients.h"
#include "rewrite/group/token_rows.h"

#include <utility>

namespace cudnn_frontend::rewrite {
namespace {

// Cuts the span where tensors with a number for each row are aligned to 16 bytes.
Span aligned(Span const& inner, Span const& all) {
    constexpr std::int64_t kRowsTogether = 8;
    std::int64_t const before = (inner.first - all.first + kRowsTogether - 1) / kRowsTogether * kRowsTogether;
    std::int64_t const end = (inner.end - all.first) / kRowsTogether * kRowsTogether;
    return {all.first + before, inner.end == all.end ? all.end : all.first + end};
}

}  // namespace

GatheredKeys::GatheredKeys(Attention const& attention, group::Task const& task, std::vector<QueryChunk> const& chunks,
                           int rank)
    : a_(attention),
      task_(task),
      chunks_(chunks),
      rank_(rank),
      band_(attention.fields(), task.queries.length(), task.keys.length()) {
    for (QueryChunk const& chunk : chunks_) {
        if (chunk.rank == rank_) add_queries(chunk);
    }
}

// Forward splits the queries of a chunk if at least half of them see no keys but one range of the rank's own.
void GatheredKeys::add_queries(QueryChunk const& chunk) {
    if (a_.is_backward()) return queries_.push_back({chunk, parts_of_backward(a_, band_, chunk)});
    if (has_documents(a_)) return add_whole(chunk);
    for (Chunk const& keys : chunks_of(task_.keys, rank_)) {
        Span const inner = aligned(band_.queries_within(chunk.tokens, keys.tokens), chunk.tokens);
        if (2 * inner.count() < chunk.tokens.count()) continue;
        add_queries(chunk, {chunk.tokens.first, inner.first});
        add_queries(chunk, inner);
        add_queries(chunk, {inner.end, chunk.tokens.end});
        return;
    }
    add_whole(chunk);
}

void GatheredKeys::add_queries(QueryChunk const& chunk, Span const& queries) {
    if (queries.count() <= 0) return;
    std::int64_t const row = chunk.row + queries.first - chunk.tokens.first;
    add_whole({{rank_, queries, row}, band_.keys_of(queries)});
}

void GatheredKeys::add_whole(QueryChunk const& queries) {
    BandPart const whole{queries.tokens, queries.keys, band_.within(queries.tokens, queries.keys)};
    queries_.push_back({queries, {whole}});
}

std::optional<Chunk> GatheredKeys::own_range(Span const& keys) const {
    if (has_documents(a_)) return {};
    for (Chunk const& range : chunks_of(task_.keys, rank_)) {
        if (common(range.tokens, keys) == keys) return range;
    }
    return {};
}

std::vector<Span> GatheredKeys::tokens() const {
    std::vector<Span> spans;
    for (QueryPart const& queries : queries_) {
        for (BandPart const& part : queries.attentions) {
            if (!own_range(part.keys)) spans.push_back(part.keys);
        }
    }
    for (Chunk const& chunk : chunks_of(task_.keys, rank_)) {
        for (int peer = 0; peer < task_.size(); ++peer) {
            if (peer == rank_) continue;
            for (Span const& needed : keys_for(peer, chunks_)) spans.push_back(common(chunk.tokens, needed));
        }
    }
    std::erase_if(spans, [](Span const& span) { return span.count() <= 0; });
    return merged(std::move(spans));
}

}  // namespace cudnn_frontend::rewrite
