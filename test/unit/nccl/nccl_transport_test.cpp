// Ranks that exchange data by NCCL.
#include "unit/nccl/fake_ranks.h"

using namespace test;

TEST_CASE("nccl: ranks exchange pieces, again and again") {
    Faults const faults;
    auto const messages = on_fake_ranks(4, 60000, [](group::Transport& transport) {
        int const rank = transport.rank(), before = (rank + 3) % 4;
        for (int run = 0; run < 10; ++run) {
            Ring ring(rank + 10 * run);
            if (fe::error_t const error = ring.run(transport); error.is_bad()) return error.get_message();
            if (ring.received != 100 + before + 10 * run) return std::string("another rank's number");
        }
        return transport.check().get_message() + transport.wait_for(nullptr).get_message();
    });
    CHECK(messages == std::vector<std::string>(4));
}

TEST_CASE("nccl: a rank sends to itself, and several exchanges are under way") {
    Faults const faults;
    auto const messages = on_fake_ranks(2, 60000, [](group::Transport& transport) {
        int const own = transport.rank(), other = 1 - own;
        std::array<int, 4> sent{own, own + 10, own + 20, own + 30}, received{-1, -1, -1, -1};
        std::string const content = "numbers";
        auto const piece = [&](int rank, int& number) { return group::Piece{rank, sizeof(int), &number}; };
        group::Exchange const first{content,
                                    {piece(own, sent[0]), piece(other, sent[1])},
                                    {piece(own, received[0]), piece(other, received[1])}};
        group::Exchange const second{content,
                                     {piece(other, sent[2]), piece(other, sent[3])},
                                     {piece(other, received[2]), piece(other, received[3])}};
        std::string errors = transport.begin("two exchanges", nullptr).get_message();
        errors += transport.start(first, nullptr).get_message() + transport.start(second, nullptr).get_message();
        errors += transport.finish(first, nullptr).get_message() + transport.finish(second, nullptr).get_message();
        transport.end({});
        bool const is_right = received == std::array<int, 4>{own, other + 10, other + 20, other + 30};
        return is_right ? errors : errors + "wrong numbers";
    });
    CHECK(messages == std::vector<std::string>(2));
}

TEST_CASE("nccl: exchanges are measured by events around the stream's wait, in runs that are no captures") {
    Faults const faults;
    auto const messages = on_fake_ranks(2, 60000, [](group::Transport& transport) {
        transport.measure(true);
        std::string errors = Ring(transport.rank()).run(transport).get_message();
        errors += Ring(transport.rank()).run(transport).get_message();
        auto const times = transport.exchange_times();
        if (times.is_bad()) return errors + times.error().err_msg;
        bool const is_right = times.value().size() == 1 && times.value().front().content == "numbers" &&
                              times.value().front().exposed_milliseconds == 1.0 &&
                              times.value().front().received_bytes == sizeof(int);
        transport.measure(false);
        errors += Ring(transport.rank()).run(transport).get_message();
        bool const is_kept = transport.exchange_times().value().size() == 1;
        return is_right && is_kept ? errors : errors + "wrong times";
    });
    CHECK(messages == std::vector<std::string>(2));
}

TEST_CASE("nccl: a run on a stream that is captured exchanges, and neither compares programs nor is measured") {
    Faults const faults;
    FakeStreams::captures = true;
    auto const messages = on_fake_ranks(2, 60000, [](group::Transport& transport) {
        Ring ring(transport.rank());
        ring.agreement = "the program of rank " + std::to_string(transport.rank());
        transport.measure(true);
        std::string errors = ring.run(transport).get_message();
        if (ring.received != 101 - transport.rank()) errors += "another rank's number";
        return transport.exchange_times().value().empty() ? errors : errors + "measured";
    });
    FakeStreams::captures = false;
    CHECK(messages == std::vector<std::string>(2));
}

TEST_CASE("nccl: a communicator of the program's is used, and left as it is") {
    Faults const faults;
    nccl::NcclLibrary const& library = fake_library();
    nccl::UniqueId const id = fake_id();
    std::vector<std::string> messages(2);
    on_all_ranks(2, [&](int rank) {
        nccl::Config config;
        nccl::Communicator communicator = nullptr;
        int state = library.init(&communicator, 2, id, rank, &config);
        while (state == nccl::kInProgress) library.async_error(communicator, &state);
        std::string& message = messages[static_cast<std::size_t>(rank)];
        {
            auto const adopted =
                nccl::adopt(library, std::make_unique<FakeStreams>(), communicator, group::Milliseconds(60000));
            message = adopted.error().get_message();
            if (message.empty()) message = Ring(rank).run(*adopted.value()).get_message();
            if (message.empty() && adopted.value()->size() != 2) message = "another size";
            if (message.empty()) adopted.value()->give_up("done");
        }
        if (library.async_error(communicator, &state) != nccl::kSuccess || state != nccl::kSuccess)
            message += "aborted";
        library.destroy(communicator);
    });
    CHECK(messages == std::vector<std::string>(2));
}
