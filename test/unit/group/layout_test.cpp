// Which tokens ranks own, and tensors in shards.
#include "support/catch.h"

#include <sdpa_graph/group.h>

#include <limits>
#include <numeric>
#include <optional>

using cudnn_frontend::DataType_t;
using sdpa_graph::Layout;
using sdpa_graph::Tensor_view;

namespace {

using Positions = std::vector<std::int64_t>;
using Dims = std::vector<std::int64_t>;

Tensor_view view_of(std::vector<float>& numbers, Dims const& dim) {
    return {numbers.data(), dim, sdpa_graph::row_major(dim), DataType_t::FLOAT, sdpa_graph::Device_kind::CPU};
}

}  // namespace

TEST_CASE("layouts: contiguous shards differ by one token at most, the longer ones first") {
    Layout const layout = Layout::contiguous(11, 3);
    CHECK(layout.ranks() == 3);
    CHECK(layout.length() == 11);
    CHECK(layout.positions_of(0) == Positions{0, 1, 2, 3});
    CHECK(layout.positions_of(1) == Positions{4, 5, 6, 7});
    CHECK(layout.positions_of(2) == Positions{8, 9, 10});
}

TEST_CASE("layouts: head and tail have a chunk from each end") {
    Layout const layout = Layout::head_tail(9, 2);
    CHECK(layout.positions_of(0) == Positions{0, 1, 2, 7, 8});
    CHECK(layout.positions_of(1) == Positions{3, 4, 5, 6});
    CHECK(layout.ranges_of(1).size() == 1);  // its chunks follow each other
}

TEST_CASE("layouts: head and tail give each rank a token where there are as many") {
    for (int ranks = 1; ranks <= 9; ++ranks) {
        for (std::int64_t length = ranks; length < 4 * ranks; ++length) {
            INFO(length << " tokens of " << ranks << " ranks");
            Layout const layout = Layout::head_tail(length, ranks);
            Positions all;
            for (int rank = 0; rank < ranks; ++rank) {
                CHECK(layout.count_of(rank) > 0);
                auto const own = layout.positions_of(rank);
                all.insert(all.end(), own.begin(), own.end());
            }
            std::sort(all.begin(), all.end());
            Positions expected(static_cast<std::size_t>(length));
            std::iota(expected.begin(), expected.end(), 0);
            CHECK(all == expected);
        }
    }
}

namespace {

// Pairs of one of a rank's queries and a key that is visible to it, counted one by one.
std::int64_t pairs_of(Layout const& layout, int rank, Dims const& lengths, std::optional<std::int64_t> left,
                      std::optional<std::int64_t> right) {
    std::int64_t count = 0, start = 0;
    Positions const own = layout.positions_of(rank);
    for (std::int64_t const length : lengths) {
        for (std::int64_t const position : own) {
            std::int64_t const query = position - start;
            if (query < 0 || query >= length) continue;
            std::int64_t const first = left ? std::max<std::int64_t>(query - *left + 1, 0) : 0;
            std::int64_t const last = right ? std::min(query + *right, length - 1) : length - 1;
            count += last - first + 1;
        }
        start += length;
    }
    return count;
}

}  // namespace

TEST_CASE("layouts: balanced ranges give all ranks as many visible pairs, but for those of one query") {
    using Bound = std::optional<std::int64_t>;
    std::vector<Dims> const all = {{1000}, {7, 300, 1, 64, 200}, {500, 500}};
    for (Dims const& lengths : all) {
        for (auto const& [left, right] : std::vector<std::pair<Bound, Bound>>{
                 {{}, {}}, {{}, 0}, {100, 0}, {1, 0}, {30, 5}, {5, {}}, {{}, 40}, {4000, 4000}}) {
            for (int const ranks : {1, 2, 3, 8}) {
                CAPTURE(lengths.size(), left.value_or(-1), right.value_or(-1), ranks);
                Layout const layout = Layout::balanced(lengths, ranks, left, right);
                CHECK(layout.ranks() == ranks);
                CHECK(layout.length() == std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
                std::int64_t first = 0, fewest = 1 << 30, most = 0;
                for (int rank = 0; rank < ranks; ++rank) {
                    REQUIRE(layout.ranges_of(rank).size() == 1);
                    CHECK(layout.ranges_of(rank)[0].first == first);
                    first += layout.count_of(rank);
                    std::int64_t const pairs = pairs_of(layout, rank, lengths, left, right);
                    fewest = std::min(fewest, pairs);
                    most = std::max(most, pairs);
                }
                CHECK(most - fewest <= 2 * *std::ranges::max_element(lengths));
            }
        }
    }
    // The queries before the window's end see fewer keys.
    CHECK(Layout::balanced({1000}, 2, 100, 0).count_of(0) == 525);
}

TEST_CASE("layouts: balanced ranges of few tokens, of none, and of more than a number can count") {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (int rank = 0; rank < 5; ++rank) CHECK(Layout::balanced({2, 3}, 5, {}, 0).count_of(rank) == 1);
    CHECK(Layout::balanced({1}, 3).length() == 1);
    CHECK(Layout::balanced({}, 2).length() == 0);
    CHECK(Layout::balanced({0, -3}, 2).length() == 0);
    CHECK(Layout::balanced({5}, 0).ranks() == 0);
    CHECK(Layout::balanced({5}, -1).ranks() == 0);
    Layout const longest = Layout::balanced({kMost, kMost}, 3, 4096, 0);
    CHECK(longest.length() == kMost);
    for (int rank = 0; rank < 3; ++rank) CHECK(longest.count_of(rank) > kMost / 4);
    CHECK(Layout::balanced({100}, 2, -kMost, -kMost).count_of(0) == 50);
}

TEST_CASE("layouts: ranges of the caller's are kept in order, without empty ones") {
    Layout const layout = Layout::of({{{4, 2}, {6, 1}, {2, 0}, {0, 1}}, {{1, 3}}});
    CHECK(layout.positions_of(0) == Positions{4, 5, 6, 0});
    CHECK(layout.ranges_of(0).size() == 2);
    CHECK(layout.ranges_of(7).empty());
    CHECK(layout.count_of(-1) == 0);
}

TEST_CASE("layouts: shards of a tensor join to the tensor") {
    Layout const layout = Layout::of({{{3, 2}, {0, 1}}, {{1, 2}}});
    std::vector<float> whole(2 * 5 * 3), joined(whole.size(), -1.0f);
    std::iota(whole.begin(), whole.end(), 0.0f);
    for (int rank = 0; rank < 2; ++rank) {
        std::int64_t const rows = layout.count_of(rank);
        std::vector<float> part(static_cast<std::size_t>(2 * rows * 3), -1.0f);
        REQUIRE(layout.shard(view_of(whole, {2, 5, 3}), 1, rank, view_of(part, {2, rows, 3})).get_message() == "");
        CHECK(part[0] == static_cast<float>(3 * layout.positions_of(rank)[0]));
        REQUIRE(layout.unshard(view_of(part, {2, rows, 3}), 1, rank, view_of(joined, {2, 5, 3})).get_message() == "");
    }
    CHECK(joined == whole);
}

TEST_CASE("group.c20: shards of other dims, and layouts that do not split the sequence, are refused") {
    Layout const layout = Layout::contiguous(6, 2);
    std::vector<float> whole(12), part(12);
    auto const refusal = [&](Layout const& used, Dims const& dim, Dims const& of_part, std::size_t at, int rank) {
        return used.shard(view_of(whole, dim), at, rank, view_of(part, of_part)).get_message();
    };
    CHECK(refusal(layout, {6, 2}, {3, 2}, 0, 1).empty());
    CHECK(refusal(layout, {6, 2}, {4, 2}, 0, 1) ==
          "[group.c20]: found a whole of [6, 2] and a shard of [4, 2] along dim 0; expected the same dims, but 6 and 3 "
          "there. Try: pass the dim of the tokens, and one stride for each dim.");
    CHECK_THAT(refusal(layout, {6, 2}, {3, 2}, 2, 1), Catch::Contains("[group.c20]: found a whole of [6, 2]"));
    CHECK_THAT(refusal(layout, {6, 2}, {3, 2}, 0, 2),
               Catch::Contains("[group.c20]: found rank 2; expected a rank from 0"));
    Layout const with_hole = Layout::of({{{0, 3}}, {{4, 3}}});
    CHECK_THAT(refusal(with_hole, {6, 2}, {3, 2}, 0, 1),
               Catch::Contains("[group.c20]: found tokens 3 to 3 are of no rank"));
}
