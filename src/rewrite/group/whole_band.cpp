#include "rewrite/group/whole_band.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {

Span common(Span const& a, Span const& b) { return {std::max(a.first, b.first), std::min(a.end, b.end)}; }

WholeBand::WholeBand(nodes::AttentionFields const& fields, std::int64_t queries, std::int64_t keys)
    : left_(fields.left_bound),
      right_(fields.right_bound),
      has_lengths_(fields.padding_mask),
      shift_(fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT ? keys - queries : 0),
      queries_(queries),
      keys_(keys) {}

bool WholeBand::shows_each_query_a_key() const {
    bool const first_does = !right_ || shift_ + *right_ >= 0;
    bool const last_does = !left_ || queries_ + shift_ - *left_ < keys_;
    return first_does && last_does;
}

Span WholeBand::keys_of(Span queries) const {
    std::int64_t const first = left_ ? queries.first + shift_ - *left_ + 1 : 0;
    std::int64_t const end = right_ ? queries.end + shift_ + *right_ : keys_;
    return {std::max<std::int64_t>(first, 0), std::min(end, keys_)};
}

Span WholeBand::queries_within(Span queries, Span keys) const {
    constexpr Span kNone{0, 0};
    if (keys.first > 0) {
        if (!left_) return kNone;
        queries.first = std::max(queries.first, keys.first - shift_ + *left_ - 1);
    }
    if (keys.end < keys_) {
        if (!right_) return kNone;
        queries.end = std::min(queries.end, keys.end - shift_ - *right_);
    }
    return queries.count() > 0 ? queries : kNone;
}

// The diagonal is at the part's top left or at its bottom right, whichever has bounds that a graph may have. Engines
// skip most from the corner whose bound on the right is 0.
PartBand WholeBand::within(Span queries, Span keys) const {
    if (!left_ && !right_) return {};
    std::int64_t const shift = queries.first + shift_ - keys.first;
    auto const from = [&](DiagonalAlignment_t alignment, std::int64_t corner) {
        PartBand band{alignment};
        if (left_) band.left = *left_ + corner - shift;
        if (right_) band.right = *right_ - corner + shift;
        return band;
    };
    auto const is_legal = [](PartBand const& band) {
        return band.left.value_or(1) >= 1 && band.right.value_or(0) >= 0;
    };
    std::int64_t const corner = keys.count() - queries.count();
    PartBand const bottom = from(DiagonalAlignment_t::BOTTOM_RIGHT, corner);
    return corner != 0 && !has_lengths_ && is_legal(bottom) ? bottom : from(DiagonalAlignment_t::TOP_LEFT, 0);
}

std::optional<BandPart> WholeBand::visible_part(Span queries, Span keys) const {
    if (right_) queries.first = std::max(queries.first, keys.first - shift_ - *right_);
    if (left_) queries.end = std::min(queries.end, keys.end - 1 + *left_ - shift_);
    if (queries.count() <= 0) return std::nullopt;
    keys = common(keys, keys_of(queries));
    std::int64_t const shift = queries.first + shift_ - keys.first;
    PartBand band;
    if (left_ && queries.end + shift_ - *left_ > keys.first) band.left = *left_ - shift;
    if (right_ && queries.first + shift_ + *right_ + 1 < keys.end) band.right = *right_ + shift;
    return BandPart{queries, keys, band};
}

std::vector<BandPart> WholeBand::skipping_parts(Span queries, Span keys) const {
    // The keys before the first query's last one: all of them are left of every diagonal element.
    std::int64_t const before = right_ ? queries.first + shift_ + *right_ - keys.first : 0;
    std::int64_t const width = left_ ? *left_ + right_.value_or(0) : 0;
    std::int64_t const seeing = left_ ? std::min(queries.count(), width - 1) : queries.count();
    if (before <= 0 || before >= keys.count() || seeing < 1) return {{queries, keys, within(queries, keys)}};
    Span const first{keys.first, keys.first + before}, last{keys.first + before, keys.end};
    Span const their_queries{queries.first, queries.first + seeing};
    PartBand diagonal{DiagonalAlignment_t::TOP_LEFT, {}, 0};
    if (left_) diagonal.left = width;
    PartBand border = within(their_queries, first);
    border.right.reset();
    if (!left_) border = {};
    return {{queries, last, diagonal}, {their_queries, first, border}};
}

}  // namespace cudnn_frontend::rewrite
