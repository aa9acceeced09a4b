// Results of groups bit by bit: those of one process, and those of every other run.
#include "unit/group/group_runs.h"

using namespace test;

namespace {

// The rank's rows of a result of one process.
std::vector<float> rows_of(std::vector<float> const& whole, Layout const& layout, int rank, std::int64_t heads,
                           std::int64_t columns) {
    std::vector<float> rows;
    for (std::int64_t head = 0; head < heads; ++head) {
        for (std::int64_t const position : layout.positions_of(rank)) {
            auto const first = whole.begin() + (head * layout.length() + position) * columns;
            rows.insert(rows.end(), first, first + columns);
        }
    }
    return rows;
}

}  // namespace

TEST_CASE("groups: forward has the bits of one process, however the tokens and the heads are split") {
    std::int32_t const length = GENERATE(0, 60, 150);
    INFO("length " << length);
    WholeAttention const whole{.heads = 6, .key_heads = 6, .tokens = 211, .columns = 16, .length = length};
    Numbers const alone = run_group(whole, Layout::contiguous(211, 1)).front();
    for (int const ranks : {2, 3, 6}) {
        for (auto const way : {sdpa_graph::Group_way::GATHER, sdpa_graph::Group_way::ALL_TO_ALL}) {
            Layout const layout = Layout::head_tail(211, ranks);
            auto const results = run_group(whole, layout, {way, way == sdpa_graph::Group_way::GATHER ? 3 : 0, {}});
            for (int rank = 0; rank < ranks; ++rank) {
                auto const& own = results[static_cast<std::size_t>(rank)];
                INFO("rank " << rank << " of " << ranks << ", way " << static_cast<int>(way));
                CHECK(own.at(RankPart::O) == rows_of(alone.at(RankPart::O), layout, rank, 6, 16));
                CHECK(own.at(RankPart::Stats) == rows_of(alone.at(RankPart::Stats), layout, rank, 6, 1));
            }
        }
    }
}

TEST_CASE("groups: all runs of backward give the same bits") {
    WholeAttention whole{.heads = 4, .key_heads = 2, .tokens = 97, .columns = 16, .is_backward = true};
    Layout const layout = Layout::head_tail(97, 4);
    for (std::int32_t const length : {0, 40, 80}) {
        whole.length = length;
        whole.has_alibi = length == 80;
        auto const first = run_group(whole, layout, {sdpa_graph::Group_way::GATHER, 2, {}});
        for (int run = 1; run < 20; ++run) {
            CHECK(run_group(whole, layout, {sdpa_graph::Group_way::GATHER, 2, {}}) == first);
        }
    }
}

TEST_CASE("groups: all runs of a ring give the same bits") {
    WholeAttention whole{.heads = 4, .key_heads = 2, .tokens = 97, .columns = 16};
    Layout const layout = Layout::head_tail(97, 4);
    whole.is_backward = GENERATE(false, true);
    whole.length = GENERATE(0, 80);
    auto const first = run_group(whole, layout, {sdpa_graph::Group_way::RING, 0, {}});
    for (int run = 1; run < 20; ++run) {
        CHECK(run_group(whole, layout, {sdpa_graph::Group_way::RING, 0, {}}) == first);
    }
}

TEST_CASE("groups: a graph runs again and again, and another graph after it") {
    Layout const layout = Layout::contiguous(24, 3);
    std::vector<Group> const members = threads_group(3);
    std::vector<std::string> errors(3);
    on_all_ranks(3, [&](int rank) {
        auto const index = static_cast<std::size_t>(rank);
        RankPart forward({}, layout, rank), backward({.is_backward = true}, layout, rank);
        std::string error =
            forward.build(members[index], layout).get_message() + backward.build(members[index], layout).get_message();
        for (int run = 0; run < 5; ++run) error += forward.run().get_message() + backward.run().get_message();
        errors[index] = error;
    });
    CHECK(errors == std::vector<std::string>(3));
}
