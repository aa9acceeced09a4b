// Which tokens ranks own, and tensors in shards.
#include "support/catch.h"

#include <sdpa_graph/group.h>

#include <numeric>

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
