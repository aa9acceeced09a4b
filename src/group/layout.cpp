#include "core/data_type.h"
#include "core/dims.h"
#include "core/guard.h"
#include "core/immortal.h"
#include "core/result.h"
#include "core/text.h"
#include "group/group_rules.h"
#include "group/layout_checks.h"

#include <sdpa_graph/group.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace sdpa_graph {
namespace {

namespace fe = cudnn_frontend;
namespace core = fe::core;
namespace rules = fe::group::rules;
using fe::error_t;

// The chunk of so many equal ones. Of a length that they do not divide, the first chunks have one token more.
Token_range chunk(std::int64_t length, int chunks, int index) {
    std::int64_t const count = length / chunks, more = length % chunks;
    return {count * index + std::min<std::int64_t>(index, more), count + (index < more ? 1 : 0)};
}

// The pairs of a query and a key of one document that are visible to each other.
class VisiblePairs {
   public:
    VisiblePairs(std::int64_t length, std::optional<std::int64_t> left_bound, std::optional<std::int64_t> right_bound)
        : length_(length),
          left_(std::clamp<std::int64_t>(left_bound.value_or(length), 1, std::max<std::int64_t>(length, 1))),
          right_(std::clamp<std::int64_t>(right_bound.value_or(length), 0, length)) {}

    double all() const { return of_first(length_); }
    // The pairs of the document's first queries. Query i sees no key before i - left + 1, and none after i + right.
    double of_first(std::int64_t queries) const {
        std::int64_t const below_end = std::min(queries, length_ - right_);  // queries that see keys up to i + right
        std::int64_t const above_start = std::max<std::int64_t>(queries - left_, 0);
        double const ends = static_cast<double>(below_end) * static_cast<double>(right_) + triangle(below_end) +
                            static_cast<double>(queries - below_end) * static_cast<double>(length_);
        return ends - triangle(above_start);
    }
    // The least number of first queries that have so many pairs.
    std::int64_t queries_with(double pairs) const {
        std::int64_t low = 0, high = length_;
        while (low < high) {
            std::int64_t const middle = low + (high - low) / 2;
            if (of_first(middle) < pairs) low = middle + 1;
            else high = middle;
        }
        return low;
    }

   private:
    // 1 + 2 + ... + count
    static double triangle(std::int64_t count) {
        return static_cast<double>(count) * (static_cast<double>(count) + 1.0) / 2.0;
    }

    std::int64_t length_, left_, right_;
};

error_t bad_shard(std::string found, std::string needed, std::string fix) {
    return rules::violation(rules::kShards, std::move(found), std::move(needed), std::move(fix));
}

// Some rows of two tensors: copies index by index. Ranks of tensors are small.
struct RowCopy {
    Tensor_view const& from;
    Tensor_view const& to;
    std::size_t dim;
    std::int64_t from_row, to_row, count;
};

void copy(RowCopy const& rows) {
    auto const bytes = static_cast<std::size_t>(core::size_of(rows.from.type));
    core::Dims extents = rows.from.dim;
    extents[rows.dim] = rows.count;
    core::Dims index(extents.size(), 0);
    auto const address = [&](Tensor_view const& view, std::int64_t first_row) {
        std::int64_t offset = first_row * view.stride[rows.dim];
        for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * view.stride[i];
        return static_cast<std::byte*>(view.data) + offset * static_cast<std::int64_t>(bytes);
    };
    for (bool has_more = core::volume(extents).value_or(0) > 0; has_more;) {
        std::memcpy(address(rows.to, rows.to_row), address(rows.from, rows.from_row), bytes);
        std::size_t i = index.size();
        while (i > 0 && ++index[i - 1] == extents[i - 1]) index[--i] = 0;
        has_more = i > 0;
    }
}

error_t check(Layout const& layout, Tensor_view const& whole, std::size_t dim, int rank, Tensor_view const& part) {
    if (rank < 0 || rank >= layout.ranks()) {
        return bad_shard(core::text("rank ", rank), core::text("a rank from 0 to ", layout.ranks() - 1),
                         "the rank of the group");
    }
    if (std::string const fault = fe::group::fault_of(layout); !fault.empty()) {
        return bad_shard(fault, "a layout that gives each token to one rank", "correct its ranges");
    }
    bool const has_rank = whole.dim.size() == whole.stride.size() && part.dim.size() == part.stride.size() &&
                          whole.dim.size() == part.dim.size() && dim < whole.dim.size();
    core::Dims expected = whole.dim;
    if (has_rank) expected[dim] = layout.count_of(rank);
    if (!has_rank || whole.dim[dim] != layout.length() || part.dim != expected) {
        return bad_shard(core::text("a whole of ", whole.dim, " and a shard of ", part.dim, " along dim ",
                                    static_cast<std::int64_t>(dim)),
                         core::text("the same dims, but ", layout.length(), " and ", layout.count_of(rank), " there"),
                         "pass the dim of the tokens, and one stride for each dim");
    }
    if (whole.type != part.type || whole.data == nullptr || part.data == nullptr) {
        return bad_shard("two types, or a tensor without memory", "tensors of one type in the host's memory",
                         "convert one of them first");
    }
    return {};
}

}  // namespace

Layout Layout::contiguous(std::int64_t length, int ranks) {
    std::vector<std::vector<Token_range>> ranges(static_cast<std::size_t>(std::max(ranks, 0)));
    for (int rank = 0; rank < ranks; ++rank) ranges[static_cast<std::size_t>(rank)] = {chunk(length, ranks, rank)};
    return of(std::move(ranges));
}

Layout Layout::head_tail(std::int64_t length, int ranks) {
    std::vector<std::vector<Token_range>> ranges(static_cast<std::size_t>(std::max(ranks, 0)));
    for (int rank = 0; rank < ranks; ++rank) {
        ranges[static_cast<std::size_t>(rank)] = {chunk(length, 2 * ranks, rank),
                                                  chunk(length, 2 * ranks, 2 * ranks - 1 - rank)};
    }
    return of(std::move(ranges));
}

Layout Layout::balanced(std::vector<std::int64_t> const& lengths, int ranks, std::optional<std::int64_t> left_bound,
                        std::optional<std::int64_t> right_bound) {
    std::vector<VisiblePairs> documents;
    std::vector<std::int64_t> starts{0};
    double all = 0.0;
    for (std::int64_t const given : lengths) {
        std::int64_t const length = std::min(given, std::numeric_limits<std::int64_t>::max() - starts.back());
        if (length <= 0) continue;
        documents.emplace_back(length, left_bound, right_bound);
        starts.push_back(starts.back() + length);
        all += documents.back().all();
    }
    std::vector<std::vector<Token_range>> ranges;
    std::size_t document = 0;
    double before = 0.0;  // pairs of the documents before
    for (std::int64_t rank = 0, first = 0; rank < ranks; ++rank) {
        double const pairs = all * static_cast<double>(rank + 1) / ranks;
        while (document + 1 < documents.size() && before + documents[document].all() < pairs)
            before += documents[document++].all();
        std::int64_t end = starts[document];
        if (!documents.empty()) end += documents[document].queries_with(pairs - before);
        // Each rank has a token, where there are as many; the last one has all that are left.
        end = std::max(first, std::min(std::max(end, first + 1), starts.back() - (ranks - 1 - rank)));
        if (rank + 1 == ranks) end = starts.back();
        ranges.push_back({{first, end - first}});
        first = end;
    }
    return of(std::move(ranges));
}

// Without empty ranges; those that follow each other are one.
static std::vector<Token_range> joined(std::vector<Token_range> const& given) {
    std::vector<Token_range> ranges;
    for (Token_range const& range : given) {
        bool const follows = !ranges.empty() && ranges.back().first + ranges.back().count == range.first;
        if (range.count == 0) continue;
        if (follows && range.count > 0) ranges.back().count += range.count;
        else ranges.push_back(range);
    }
    return ranges;
}

Layout Layout::of(std::vector<std::vector<Token_range>> ranges) {
    Layout layout;
    layout.ranges_ = std::move(ranges);
    for (std::vector<Token_range>& own : layout.ranges_) own = joined(own);
    return layout;
}

std::int64_t Layout::length() const noexcept {
    std::int64_t sum = 0;
    for (int rank = 0; rank < ranks(); ++rank) sum += count_of(rank);
    return sum;
}

std::vector<Token_range> const& Layout::ranges_of(int rank) const noexcept {
    static core::Immortal<std::vector<Token_range>> const none;
    return rank < 0 || rank >= ranks() ? *none : ranges_[static_cast<std::size_t>(rank)];
}

std::int64_t Layout::count_of(int rank) const noexcept {
    std::int64_t sum = 0;
    for (Token_range const& range : ranges_of(rank)) sum += range.count;
    return sum;
}

std::vector<std::int64_t> Layout::positions_of(int rank) const {
    std::vector<std::int64_t> all;
    for (Token_range const& range : ranges_of(rank)) {
        for (std::int64_t i = 0; i < range.count; ++i) all.push_back(range.first + i);
    }
    return all;
}

error_t Layout::shard(Tensor_view const& whole, std::size_t dim, int rank, Tensor_view const& part) const noexcept {
    return core::guarded([&]() -> error_t {
        SDPA_GRAPH_TRY(check(*this, whole, dim, rank, part));
        std::int64_t row = 0;
        for (Token_range const& range : ranges_of(rank)) {
            copy({whole, part, dim, range.first, row, range.count});
            row += range.count;
        }
        return {};
    });
}

error_t Layout::unshard(Tensor_view const& part, std::size_t dim, int rank, Tensor_view const& whole) const noexcept {
    return core::guarded([&]() -> error_t {
        SDPA_GRAPH_TRY(check(*this, whole, dim, rank, part));
        std::int64_t row = 0;
        for (Token_range const& range : ranges_of(rank)) {
            copy({part, whole, dim, row, range.first, range.count});
            row += range.count;
        }
        return {};
    });
}

}  // namespace sdpa_graph
