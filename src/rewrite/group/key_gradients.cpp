#include "rewrite/group/key_gradients.h"

#include "rewrite/group/documents.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

std::vector<BandPart> parts_of_backward(Attention const& attention, WholeBand const& band, QueryChunk const& chunk) {
    // With lengths and a sink, backward is whole: a part without keys within the lengths would leave out its rows, and
    // lose their share of the sink's gradient. Documents are in one attention, whose keys no band limits.
    bool const has_lengths_and_sink =
        has_port(attention, attention::Port::DSinkToken) && attention.fields().padding_mask;
    if (has_lengths_and_sink || has_documents(attention))
        return {{chunk.tokens, chunk.keys, band.within(chunk.tokens, chunk.keys)}};
    return band.skipping_parts(chunk.tokens, chunk.keys);
}

KeyGradients::KeyGradients(Attention const& attention, group::Task const& task, std::vector<QueryChunk> const& chunks,
                           bool can_be_in_place)
    : a_(attention),
      task_(task),
      chunks_(chunks),
      band_(attention.fields(), task.queries.length(), task.keys.length()),
      can_be_in_place_(can_be_in_place && !has_documents(attention)) {}

std::optional<Chunk> KeyGradients::range_in_place(QueryChunk const& chunk, Span const& keys) const {
    if (!can_be_in_place_ || chunks_that_see(keys).front().tokens != chunk.tokens) return {};
    for (Chunk const& range : chunks_of(task_.keys, chunk.rank)) {
        if (common(range.tokens, keys) == keys) return range;
    }
    return {};
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
std::vector<Span> KeyGradients::attended(QueryChunk const& chunk) const {
    std::vector<Span> spans;
    for (BandPart const& part : parts_of_backward(a_, band_, chunk)) spans.push_back(part.keys);
    return spans;
}

// They are consecutive.
std::span<QueryChunk const> KeyGradients::chunks_that_see(Span const& keys) const {
    auto const sees = [&](QueryChunk const& chunk) { return common(chunk.keys, keys).count() > 0; };
    auto const first = std::ranges::find_if(chunks_, sees);
    return {first, std::find_if_not(first, chunks_.end(), sees)};
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

// The keys are in one attention of each chunk that sees them.
bool KeyGradients::is_first_in_place(Span const& keys) const {
    QueryChunk const& first = chunks_that_see(keys).front();
    auto const spans = attended(first);
    auto const whole = std::ranges::find_if(spans, [&](Span const& span) { return common(span, keys) == keys; });
    return range_in_place(first, *whole).has_value();
}

}  // namespace cudnn_frontend::rewrite
