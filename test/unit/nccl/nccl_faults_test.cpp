// Calls of NCCL that fail or never end: an error on each rank that waits, in time.
#include "unit/nccl/fake_ranks.h"

#include <barrier>
#include <chrono>

using namespace test;

namespace {

// Deadlines in milliseconds. The first two pass in the tests; before the second one ranks also exchange data, for which
// a busy machine needs time. No test waits until the third.
constexpr std::int64_t kDeadline = 200, kLongDeadline = 2000, kNever = 60000;
constexpr int kSystemError = 2, kInProgress = 7;

std::string run_ring(group::Transport& transport) { return Ring(transport.rank()).run(transport).get_message(); }

}  // namespace

TEST_CASE("group.c19: each call that fails is named, and breaks the group on all ranks") {
    for (char const* const call : {"ncclCommInitRankConfig", "ncclCommGetAsyncError", "ncclGroupStart", "ncclSend",
                                   "ncclRecv", "ncclGroupEnd", "ncclAllGather"}) {
        INFO(call);
        Faults faults;
        faults.set(call, kSystemError);
        auto const messages = on_fake_ranks(2, kNever, [](group::Transport& transport) {
            std::string const first = run_ring(transport);
            return first + (transport.check().is_bad() ? ", broken" : ", whole");
        });
        for (std::string const& message : messages) {
            CHECK_THAT(message, Catch::Contains("returned 2, a text: the last error"));
            CHECK_THAT(message, Catch::Contains("[group.c19]"));
            bool const has_joined =
                std::string(call) != "ncclCommInitRankConfig" && std::string(call) != "ncclCommGetAsyncError";
            if (has_joined) CHECK_THAT(message, Catch::EndsWith(", broken"));
        }
    }
}

TEST_CASE("group.c19: ids and adopted communicators whose calls fail") {
    Faults faults;
    faults.set("ncclGetUniqueId", kSystemError);
    CHECK_THAT(nccl::make_id(fake_library()).error().get_message(),
               Catch::Contains("[group.c19]: found ncclGetUniqueId returned 2"));
    nccl::Communicator communicator = nullptr;
    nccl::Config config;
    REQUIRE(fake_library().init(&communicator, 1, {}, 0, &config) == kInProgress);
    for (char const* const call : {"ncclCommCount", "ncclCommUserRank"}) {
        faults.set(call, kSystemError);
        auto const adopted =
            nccl::adopt(fake_library(), std::make_unique<FakeStreams>(), communicator, group::Milliseconds(kNever));
        CHECK_THAT(adopted.error().get_message(), Catch::Contains(std::string("found ") + call + " returned 2"));
    }
    CHECK(faults.aborted() == 0);
    fake_library().destroy(communicator);
}

TEST_CASE("nccl: a communicator that cannot be finalized is aborted") {
    Faults faults;
    faults.set("ncclCommFinalize", kSystemError);
    CHECK(on_fake_ranks(1, kNever, run_ring) == std::vector<std::string>(1));
    CHECK(faults.aborted() == 1);
}

TEST_CASE("group.c14: a rank that does not join is waited for until the deadline") {
    Faults const faults;
    auto const start = std::chrono::steady_clock::now();
    auto const joined = join_fake(fake_id(), 0, 2, kDeadline);
    CHECK_THAT(joined.error().get_message(),
               Catch::Contains("[group.c14]: found rank 0 waiting for other ranks for 200 ms in "
                               "joining a group of 2 ranks; expected every rank to run"));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("group.c14: a rank that does not come to an exchange is waited for until the deadline") {
    Faults const faults;
    auto const messages = on_fake_ranks(2, kLongDeadline, [](group::Transport& transport) {
        std::string const first = run_ring(transport);
        return transport.rank() == 0 ? first + run_ring(transport) : first;
    });
    CHECK_THAT(messages[0],
               Catch::Contains("[group.c14]: found rank 0 waiting for other ranks for 2000 ms in exchange of numbers"));
    CHECK(messages[1].empty());
}

TEST_CASE("group.c14: calls that stay in progress end at the deadline") {
    Faults faults;
    auto const messages = on_fake_ranks(2, kDeadline, [&](group::Transport& transport) {
        std::string const first = run_ring(transport);
        faults.set("asynchronous", kInProgress);
        return first + run_ring(transport);
    });
    CHECK_THAT(messages[0] + messages[1], Catch::Contains("[group.c14]"));
}

TEST_CASE("group.c14: work on the GPU that never ends") {
    Faults const faults;
    auto const messages = on_fake_ranks(1, kDeadline, [](group::Transport& transport) {
        FakeStreams::never_ends = true;
        std::string const message = transport.wait_for(nullptr).get_message();
        FakeStreams::never_ends = false;
        return message + transport.check().get_message();
    });
    CHECK_THAT(messages[0],
               Catch::Contains("[group.c14]: found rank 0 waiting for other ranks for 200 ms in work on the stream") &&
                   Catch::Contains("[group.c16]"));
}

TEST_CASE("nccl: a GPU whose context is lost is said to be so") {
    Faults const faults;
    auto const messages = on_fake_ranks(1, kNever, [](group::Transport& transport) {
        FakeStreams::fails = true;
        std::string const message = transport.wait_for(nullptr).get_message();
        FakeStreams::fails = false;
        return message;
    });
    CHECK(messages[0] ==
          "CUDA_ERROR_ILLEGAL_ADDRESS; the GPU's context is lost if other calls of CUDA fail too: start the "
          "process anew");
}

TEST_CASE("group.c19: an error of work on the GPU is found by check() and wait_for()") {
    Faults faults;
    std::barrier both(2);
    auto const messages = on_fake_ranks(2, kNever, [&](group::Transport& transport) {
        std::string const first = run_ring(transport);
        both.arrive_and_wait();
        faults.set("asynchronous", 6);
        return first + (transport.rank() == 0 ? transport.check() : transport.wait_for(nullptr)).get_message();
    });
    for (std::string const& message : messages) {
        CHECK_THAT(message, Catch::Contains("[group.c19]: found work of NCCL on the GPU returned 6, remote error"));
    }
}

TEST_CASE("group.c15: ranks whose programs do not fit find out before they exchange data") {
    Faults const faults;
    auto const messages = on_fake_ranks(3, kNever, [](group::Transport& transport) {
        Ring ring(transport.rank());
        if (transport.rank() == 2) ring.agreement = "another ring";
        return ring.run(transport).get_message();
    });
    CHECK_THAT(messages[0], Catch::Contains("[group.c15]: found rank 0 has a ring, rank 2 something else"));
    CHECK_THAT(messages[1], Catch::Contains("[group.c15]: found rank 1 has a ring, rank 2 something else"));
    CHECK_THAT(messages[2], Catch::Contains("[group.c15]: found rank 2 has another ring, rank 0 something else"));
    // A rank that aborted would take away the comparison from one that is slower.
    CHECK(faults.aborted() == 0);
}

TEST_CASE("group.c16: after ranks found that their programs do not fit, nothing runs") {
    Faults const faults;
    auto const messages = on_fake_ranks(2, kNever, [](group::Transport& transport) {
        Ring ring(transport.rank());
        if (transport.rank() == 1) ring.agreement = "another ring";
        static_cast<void>(ring.run(transport));
        return Ring(transport.rank()).run(transport).get_message() + transport.check().get_message();
    });
    for (std::string const& message : messages) {
        CHECK_THAT(message, Catch::StartsWith("[group.c16]: found an earlier failure: [group.c15]: found rank"));
    }
    CHECK(faults.aborted() == 0);
}

TEST_CASE("group.c16, group.c17: a group that a rank ended, and two runs at a time") {
    Faults const faults;
    auto const messages = on_fake_ranks(2, kNever, [](group::Transport& transport) {
        std::string all = transport.begin("a run", nullptr).get_message();
        all += transport.begin("a run", nullptr).get_message();
        transport.end({});
        transport.give_up("a fault elsewhere");
        return all + transport.begin("a run", nullptr).get_message();
    });
    for (int rank = 0; rank < 2; ++rank) {
        CHECK_THAT(messages[static_cast<std::size_t>(rank)],
                   Catch::Contains("[group.c17]: found a second run of rank " + std::to_string(rank)) &&
                       Catch::Contains("[group.c16]: found an earlier failure: rank " + std::to_string(rank) +
                                       " ended the group: a fault"));
    }
}
