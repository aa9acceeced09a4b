// Ranks that are late, gone, or do something else: an error in place of a wait for ever.
#include "support/catch.h"
#include "support/group_graph.h"

#include <chrono>

using namespace test;

namespace {

constexpr std::int64_t kDeadline = 200;  // milliseconds

// A rank's calls with its member of the group, which return a message.
using RankBody = std::function<std::string(Group& member, int rank)>;

std::vector<std::string> messages_of(int ranks, std::int64_t deadline, RankBody const& body) {
    std::vector<Group> members = threads_group(ranks, deadline);
    std::vector<std::string> messages(members.size());
    on_all_ranks(ranks, [&](int rank) {
        auto const index = static_cast<std::size_t>(rank);
        messages[index] = body(members[index], rank);
    });
    return messages;
}

std::string run_part(Group const& member, Layout const& layout, WholeAttention const& whole = {}) {
    RankPart part(whole, layout, member.rank());
    cudnn_frontend::error_t error = part.build(member, layout);
    if (error.is_good()) error = part.run();
    return error.get_message();
}

}  // namespace

TEST_CASE("group.c14: a rank that never comes is named, and the step that waited for it") {
    Layout const layout = Layout::contiguous(24, 2);
    auto const start = std::chrono::steady_clock::now();
    auto const messages = messages_of(
        2, kDeadline, [&](Group& member, int rank) { return rank == 0 ? run_part(member, layout) : std::string(); });
    CHECK_THAT(messages[0], Catch::Contains("[group.c14]: found rank 0 waiting for the copies of rank 1 for 200 ms in "
                                            "the exchange of keys and values of all heads; rank 1 has started no "
                                            "exchange, and it runs no graph; expected every rank to run the same"));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("group.c14: a rank that runs one graph twice waits for the others alone") {
    Layout const layout = Layout::head_tail(24, 2);
    auto const messages = messages_of(2, kDeadline, [&](Group& member, int rank) {
        std::string const first = run_part(member, layout);
        return rank == 0 ? first + run_part(member, layout) : first;
    });
    CHECK_THAT(messages[0], Catch::Contains("[group.c14]: found rank 0 waiting for the pieces of rank 1 for 200 ms in "
                                            "the exchange of keys and values of all heads; rank 1's last exchange is "
                                            "that of keys and values of all heads, and it runs no graph"));
    CHECK(messages[1].empty());
}

TEST_CASE("group.c16: after a failure every call of every rank says why, and another group works") {
    Layout const layout = Layout::contiguous(24, 3);
    auto const messages = messages_of(3, kDeadline, [&](Group& member, int rank) {
        if (rank == 2) return std::string();
        std::string const first = run_part(member, layout);
        return first + "\n" + member.check().get_message() + "\n" + run_part(member, layout);
    });
    for (std::size_t rank : {0, 1}) {
        CHECK_THAT(messages[rank], Catch::Contains("for the copies of rank 2") || Catch::Contains("of rank 1"));
        CHECK_THAT(messages[rank], Catch::Contains("[group.c16]"));
        CHECK_THAT(messages[rank],
                   Catch::Contains("expected a group of which every rank works. Try: make a new group"));
    }
    auto const again = messages_of(3, 60000, [&](Group& member, int) { return run_part(member, layout); });
    CHECK(again == std::vector<std::string>(3));
}

TEST_CASE("group.c16: a rank that leaves in the middle is named") {
    Layout const layout = Layout::head_tail(24, 2);
    auto const messages = messages_of(2, 60000, [&](Group& member, int rank) {
        std::string const first = run_part(member, layout);
        if (rank == 0) return first + run_part(member, layout);
        member = Group();
        return first;
    });
    CHECK_THAT(messages[0], Catch::Contains("[group.c16]: found rank 1 gone, while rank 0 waits for the pieces in the "
                                            "exchange of keys and values of all heads"));
}

TEST_CASE("group.c16: a rank that ends the group says why to all others") {
    Layout const layout = Layout::head_tail(24, 2);
    auto const messages = messages_of(2, 60000, [&](Group& member, int rank) {
        if (rank == 0) return run_part(member, layout);
        member.give_up("out of memory");
        return member.check().get_message();
    });
    for (std::string const& message : messages) {
        CHECK_THAT(message,
                   Catch::Contains("[group.c16]: found an earlier failure: rank 1 ended the group: out of memory"));
    }
}

TEST_CASE("group.c15: ranks with other shapes, other masks, other layouts or other steps do not fit") {
    Layout const layout = Layout::head_tail(24, 2), other = Layout::contiguous(24, 2);
    auto const disagreement = [&](WholeAttention const& whole, Layout const& of_rank_1) {
        auto const messages = messages_of(2, 60000, [&](Group& member, int rank) {
            return rank == 0 ? run_part(member, layout) : run_part(member, of_rank_1, whole);
        });
        return messages[0] + messages[1];
    };
    CHECK_THAT(disagreement({.columns = 16}, layout),
               Catch::Contains("[group.c15]") && Catch::Contains("heads of 16/16"));
    CHECK_THAT(disagreement({.is_causal = false}, layout),
               Catch::Contains("[group.c15]") && Catch::Contains("band -/-"));
    CHECK_THAT(disagreement({.is_backward = true}, layout),
               Catch::Contains("[group.c15]") && Catch::Contains("backward"));
    CHECK_THAT(disagreement({}, other), Catch::Contains("[group.c15]") && Catch::Contains("queries 0:0+12 1:12+12"));
    CHECK(disagreement({}, layout).empty());
}

TEST_CASE("group.c17: two runs of one rank at a time are refused") {
    Layout const layout = Layout::head_tail(24, 2);
    std::vector<Group> const members = threads_group(2, 2000);
    std::vector<std::string> messages(2);
    // Both are rank 0; one waits for rank 1 while the other comes.
    on_all_ranks(2, [&](int index) { messages[static_cast<std::size_t>(index)] = run_part(members[0], layout); });
    CHECK_THAT(messages[0] + messages[1],
               Catch::Contains("[group.c17]: found a second run of rank 0 during gather(1)"));
}

TEST_CASE("group.c18: groups without ranks, and ranks that groups do not have, are refused") {
    std::vector<Group> members;
    Group member;
    CHECK(Group::of_threads(0, {}, members).get_message() ==
          "[group.c18]: found a size of 0; expected at least 1. Try: the number of threads.");
    CHECK_THAT(Group::described(2, 2, member).get_message(), Catch::Contains("[group.c18]: found rank 2 of 2"));
    CHECK_THAT(Group().check().get_message(), Catch::Contains("[group.c18]: found a Group() without a rank"));
    CHECK(Group().rank() == -1);
    CHECK(Group().size() == 0);
}

TEST_CASE("groups: a rank that is only described plans, and does not run") {
    Layout const layout = Layout::contiguous(24, 8);
    Group member;
    REQUIRE(Group::described(5, 8, member).is_good());
    RankPart part({}, layout, 5);
    REQUIRE(part.build(member, layout).get_message() == "");
    CHECK_THAT(part.run().get_message(),
               Catch::Contains("[group.c16]: found a run of rank 5 of a group that is only described"));
}
