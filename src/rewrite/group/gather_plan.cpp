#include "rewrite/group/gather_plan.h"

#include "rewrite/group/documents.h"
#include "rewrite/group/token_rows.h"

#include <algorithm>
#include <iterator>
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

std::vector<BandPart> parts_of_backward(Attention const& attention, WholeBand const& band, QueryChunk const& chunk) {
    // With lengths and a sink, backward is whole: a part without keys within the lengths would leave out its rows, and
    // lose their share of the sink's gradient. Documents are in one attention, whose keys no band limits.
    bool const has_lengths_and_sink =
        has_port(attention, attention::Port::DSinkToken) && attention.fields().padding_mask;
    if (has_lengths_and_sink || has_documents(attention))
        return {{chunk.tokens, chunk.keys, band.within(chunk.tokens, chunk.keys)}};
    return band.skipping_parts(chunk.tokens, chunk.keys);
}

GatheredKeys::GatheredKeys(Attention const& attention, group::Task const& task, std::vector<QueryChunk> const& chunks,
                           int rank, bool can_be_in_place)
    : a_(attention),
      task_(task),
      chunks_(chunks),
      rank_(rank),
      can_be_in_place_(can_be_in_place && !has_documents(attention)),
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
    return can_be_in_place_ ? range_with(task_.keys, rank_, keys) : std::nullopt;
}

std::vector<Span> GatheredKeys::read_tokens() const {
    std::vector<Span> spans;
    for (QueryPart const& queries : queries_) {
        for (BandPart const& part : queries.attentions) {
            if (part.keys.count() > 0 && !own_range(part.keys)) spans.push_back(part.keys);
        }
    }
    return merged(std::move(spans));
}

std::vector<Span> GatheredKeys::sent_tokens() const {
    std::vector<Span> needed;
    for (QueryChunk const& chunk : chunks_) {
        if (chunk.rank != rank_ && chunk.keys.count() > 0) needed.push_back(chunk.keys);
    }
    return common(tokens_of(task_.keys, rank_), merged(std::move(needed)));
}

std::vector<Span> GatheredKeys::buffered_tokens(bool are_sent_from_buffer) const {
    std::vector<Span> spans = read_tokens();
    if (are_sent_from_buffer) std::ranges::copy(sent_tokens(), std::back_inserter(spans));
    return merged(std::move(spans));
}

KeyGradients::KeyGradients(Attention const& attention, group::Task const& task, std::vector<QueryChunk> const& chunks,
                           bool can_be_in_place)
    : task_(task), chunks_(chunks), can_be_in_place_(can_be_in_place && !has_documents(attention)) {
    if (!attention.is_backward()) return;
    WholeBand const band(attention.fields(), task.queries.length(), task.keys.length());
    for (QueryChunk const& chunk : chunks_) {
        std::vector<Span>& keys = attended_.emplace_back();
        for (BandPart const& part : parts_of_backward(attention, band, chunk)) keys.push_back(part.keys);
    }
}

std::optional<Chunk> KeyGradients::range_in_place(QueryChunk const& chunk, Span const& keys) const {
    if (!can_be_in_place_ || chunks_that_see(keys).front().tokens != chunk.tokens) return {};
    return range_with(task_.keys, chunk.rank, keys);
}

Span KeyGradients::keys_elsewhere(QueryChunk const& chunk) const {
    std::vector<Span> spans;
    for (Span const& keys : attended(chunk)) {
        if (!range_in_place(chunk, keys)) spans.push_back(keys);
    }
    if (spans.empty()) return {0, 0};
    std::ranges::sort(spans, {}, &Span::first);
    return {spans.front().first, spans.back().end};
}

std::vector<SeenKeys> KeyGradients::of_rank(int rank) const {
    std::vector<SeenKeys> all;
    for (Chunk const& range : chunks_of(task_.keys, rank)) {
        for (Span const& keys : cut(range.tokens)) {
            std::int64_t const row = range.row + keys.first - range.tokens.first;
            all.push_back({{rank, keys, row}, chunks_that_see(keys), is_first_in_place(keys)});
        }
    }
    return all;
}

// The keys of each attention over the chunk's queries.
std::vector<Span> const& KeyGradients::attended(QueryChunk const& chunk) const {
    auto const at = std::ranges::lower_bound(chunks_, chunk.tokens.first, {},
                                             [](QueryChunk const& each) { return each.tokens.first; });
    return attended_[static_cast<std::size_t>(at - chunks_.begin())];
}

// The chunks that see some of the keys are consecutive, as their first and last keys ascend.
std::span<QueryChunk const> KeyGradients::chunks_that_see(Span const& keys) const {
    auto const ends_before = [&](QueryChunk const& chunk) { return chunk.keys.end <= keys.first; };
    auto const begins_before = [&](QueryChunk const& chunk) { return chunk.keys.first < keys.end; };
    auto const first = std::ranges::partition_point(chunks_, ends_before);
    return {first, std::ranges::partition_point(first, chunks_.end(), begins_before)};
}

std::vector<Span> KeyGradients::cut(Span const& keys) const {
    std::vector<std::int64_t> ends{keys.first, keys.end};
    for (QueryChunk const& chunk : chunks_that_see(keys)) {
        for (Span const& part : attended(chunk)) {
            for (std::int64_t const end : {part.first, part.end}) {
                if (end > keys.first && end < keys.end) ends.push_back(end);
            }
        }
    }
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<Span> spans;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) spans.push_back({ends[i], ends[i + 1]});
    return spans;
}

// Expects keys of one piece of cut(), which each chunk's attentions see whole or not at all.
bool KeyGradients::is_first_in_place(Span const& keys) const {
    QueryChunk const& first = chunks_that_see(keys).front();
    auto const& spans = attended(first);
    auto const whole = std::ranges::find_if(spans, [&](Span const& span) { return common(span, keys) == keys; });
    return range_in_place(first, *whole).has_value();
}

}  // namespace cudnn_frontend::rewrite
