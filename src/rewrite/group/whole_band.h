// Masks of the whole attention, as the queries of a part see it.
#pragma once

#include "rewrite/attention_node.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cudnn_frontend::rewrite {

// Positions in the whole sequence, from the first to before the end.
struct Span {
    std::int64_t first, end;

    std::int64_t count() const { return end - first; }
    friend bool operator==(Span const&, Span const&) = default;
};

Span common(Span const& a, Span const& b);  // empty spans have no positive count

// A band as the fields of an attention over a part of the queries and a part of the keys.
struct PartBand {
    DiagonalAlignment_t alignment = DiagonalAlignment_t::TOP_LEFT;
    std::optional<std::int64_t> left = {}, right = {};

    friend bool operator==(PartBand const&, PartBand const&) = default;
};

// Some of the queries, some of the keys, and the band between them.
struct BandPart {
    Span queries, keys;
    PartBand band;
};

// Query i sees the keys from i + shift - left + 1 to i + shift + right.
class WholeBand {
   public:
    WholeBand(nodes::AttentionFields const& fields, std::int64_t queries, std::int64_t keys);

    bool shows_each_query_a_key() const;
    // All keys that one of the queries sees.
    Span keys_of(Span queries) const;
    // The queries of which each sees none but these keys.
    Span queries_within(Span queries, Span keys) const;
    // The same band over these queries and keys, which contain all of keys_of() and are more on one side at most. With
    // lengths, which move a diagonal that ends at the bottom right, it starts at the top left.
    PartBand within(Span queries, Span keys) const;
    // The queries that see some of the keys, the keys that they see, and the band between them without bounds that hide
    // nothing there.
    std::optional<BandPart> visible_part(Span queries, Span keys) const;
    // The same in parts of which backward's engines skip the tiles that are not visible: they do so where the diagonal
    // starts in the first element and nothing right of it is visible. The first part has all queries, and each key is
    // in one part.
    std::vector<BandPart> skipping_parts(Span queries, Span keys) const;

   private:
    std::optional<std::int64_t> left_, right_;
    bool has_lengths_;
    std::int64_t shift_, queries_, keys_;
};

}  // namespace cudnn_frontend::rewrite
