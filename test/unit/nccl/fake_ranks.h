// Ranks of groups over the stand-in for NCCL, with streams that are no GPU's.
#pragma once

#include "nccl/nccl_transport.h"
#include "support/catch.h"
#include "support/group_graph.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

namespace test {

namespace fe = cudnn_frontend;
namespace nccl = fe::nccl;
namespace group = fe::group;
using fe::Result;

inline nccl::NcclLibrary const& fake_library() {
    static Result<nccl::NcclLibrary> const& opened =
        *new Result<nccl::NcclLibrary>(nccl::open({false, {{FAKE_NCCL, "of the tests"}}, {}}));
    REQUIRE(opened.error().get_message() == "");
    return opened.value();
}

// Chooses results of calls, until it goes. By then every communicator must have been destroyed or aborted.
class Faults {
   public:
    Faults() { call<void (*)()>("fake_nccl_reset")(); }
    Faults(Faults const&) = delete;
    ~Faults() {
        CHECK(call<int (*)()>("fake_nccl_open")() == 0);
        call<void (*)()>("fake_nccl_reset")();
    }
    int aborted() const { return call<int (*)()>("fake_nccl_aborted")(); }
    void set(char const* name, int result) { call<void (*)(char const*, int)>("fake_nccl_set")(name, result); }

   private:
    template <class Function>
    static Function call(char const* name) {
        static_cast<void>(fake_library());
        return reinterpret_cast<Function>(dlsym(dlopen(FAKE_NCCL, RTLD_NOW | RTLD_NOLOAD), name));
    }
};

// All work is done when it is enqueued, except if a test says that it never ends or has failed.
class FakeStreams final : public nccl::GpuStreams {
   public:
    inline static std::atomic<bool> never_ends = false, fails = false, captures = false;

    CUstream own() const override { return reinterpret_cast<CUstream>(const_cast<FakeStreams*>(this)); }
    fe::error_t make_wait(CUstream, CUstream, CUevent) override { return {}; }
    fe::error_t record(CUevent) override { return {}; }
    fe::error_t make_wait_for(CUstream, CUevent) override { return {}; }
    Result<CUevent> make_event() override { return reinterpret_cast<CUevent>(this); }
    // An event is the number of those that were recorded before it.
    Result<CUevent> make_timed_event() override { return reinterpret_cast<CUevent>(&recorded_.emplace_back(-1)); }
    fe::error_t record_on(CUstream, CUevent event) override {
        *reinterpret_cast<int*>(event) = next_++;
        return {};
    }
    Result<double> milliseconds_between(CUevent begin, CUevent end) override {
        return static_cast<double>(*reinterpret_cast<int*>(end) - *reinterpret_cast<int*>(begin));
    }
    Result<bool> is_done(CUstream) override {
        if (fails) return fe::error_t(fe::error_code_t::CUDA_API_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS");
        return !never_ends;
    }
    Result<bool> is_capturing(CUstream) override { return captures.load(); }
    Result<std::shared_ptr<void>> allocate(std::size_t bytes) override {
        auto const block = std::make_shared<std::vector<std::byte>>(bytes);
        return std::shared_ptr<void>(block, block->data());
    }
    fe::error_t upload(void* to, std::span<std::byte const> bytes) override {
        return std::memcpy(to, bytes.data(), bytes.size()), fe::error_t();
    }
    fe::error_t download(std::span<std::byte> to, void const* from) override {
        return std::memcpy(to.data(), from, to.size()), fe::error_t();
    }

   private:
    std::deque<int> recorded_;
    int next_ = 0;
};

inline Result<std::shared_ptr<group::Transport>> join_fake(nccl::UniqueId const& id, int rank, int size,
                                                           std::int64_t milliseconds) {
    return nccl::join(fake_library(), std::make_unique<FakeStreams>(), id, rank, size,
                      group::Milliseconds(milliseconds));
}

inline nccl::UniqueId fake_id() {
    auto const id = nccl::make_id(fake_library());
    REQUIRE(id.is_good());
    return id.value();
}

// Each rank sends its number to the next one and gets that of the one before.
struct Ring {
    int sent, received = -1;
    std::string content = "numbers";
    std::string agreement = "a ring";

    explicit Ring(int rank) : sent(100 + rank) {}

    fe::error_t run(group::Transport& transport) {
        SDPA_GRAPH_TRY(transport.begin(agreement, nullptr));
        int const next = (transport.rank() + 1) % transport.size();
        int const before = (transport.rank() + transport.size() - 1) % transport.size();
        group::Exchange const exchange{content, {{next, sizeof(sent), &sent}}, {{before, sizeof(received), &received}}};
        fe::error_t outcome = transport.start(exchange, nullptr);
        if (outcome.is_good()) outcome = transport.finish(exchange, nullptr);
        transport.end(outcome);
        return outcome;
    }
};

// Body(transport) for each rank, in a thread of its own; its message, or that of a rank that cannot join.
inline std::vector<std::string> on_fake_ranks(int size, std::int64_t milliseconds,
                                              std::function<std::string(group::Transport&)> const& body) {
    nccl::UniqueId const id = fake_id();
    std::vector<std::string> messages(static_cast<std::size_t>(size));
    on_all_ranks(size, [&](int rank) {
        auto const joined = join_fake(id, rank, size, milliseconds);
        messages[static_cast<std::size_t>(rank)] =
            joined.is_good() ? body(*joined.value()) : joined.error().get_message();
    });
    return messages;
}

}  // namespace test
