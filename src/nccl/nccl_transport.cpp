#include "nccl/nccl_transport.h"

#include "core/guard.h"
#include "core/text.h"
#include "group/group_rules.h"

#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace cudnn_frontend::nccl {
namespace {

namespace rules = group::rules;
using core::text;
using group::Exchange;
using group::Milliseconds;
using group::Piece;

constexpr auto kPause = std::chrono::microseconds(50);

class Deadline {
   public:
    explicit Deadline(Milliseconds limit) : end_(std::chrono::steady_clock::now() + limit) {}
    bool is_over() const { return std::chrono::steady_clock::now() >= end_; }

   private:
    std::chrono::steady_clock::time_point end_;
};

error_t late(int rank, std::string const& step, Milliseconds limit) {
    return rules::violation(
        rules::kInTime,
        text("rank ", rank, " waiting for other ranks for ", static_cast<std::int64_t>(limit.count()), " ms in ", step),
        "every rank to run the same graphs", "look for the errors of other ranks, or set a longer deadline");
}

// Waits while NCCL is busy with a call.
error_t settle(NcclLibrary const& library, Communicator communicator, int result, std::string const& call, int rank,
               Milliseconds limit) {
    Deadline const deadline(limit);
    while (result == kInProgress) {
        if (deadline.is_over()) return late(rank, call, limit);
        std::this_thread::sleep_for(kPause);
        int const asked = library.async_error(communicator, &result);
        if (asked != kSuccess) result = asked;
    }
    return error_of(library, result, call, communicator);
}

class NcclTransport final : public group::Transport {
   public:
    NcclTransport(NcclLibrary const& library, std::unique_ptr<GpuStreams> streams, Communicator communicator,
                  bool is_own, int rank, int size, Milliseconds deadline)
        : Transport(rank, size, group::Medium::Gpu),
          library_(library),
          streams_(std::move(streams)),
          communicator_(communicator),
          is_own_(is_own),
          deadline_(deadline) {}

    ~NcclTransport() override {
        if (!is_own_ || is_aborted_) return;
        int const finalized = library_.finalize(communicator_);
        bool const is_flushed =
            settle(library_, communicator_, finalized, "ncclCommFinalize", rank(), deadline_).is_good();
        if (is_flushed) library_.destroy(communicator_);
        else library_.abandon(communicator_);
    }

    error_t begin(std::string const& agreement, void* stream) override {
        std::lock_guard const lock(mutex_);
        if (broken_) return broken();
        if (is_running_) {
            return rules::violation(rules::kAlone, text("a second run of rank ", rank()), "one run of a rank at a time",
                                    "run graphs of a rank from one thread, or make a group for each thread");
        }
        SDPA_GRAPH_TRY(agree(agreement, static_cast<CUstream>(stream)));
        SDPA_GRAPH_TRY(begin_times(static_cast<CUstream>(stream)));
        is_running_ = true;
        return {};
    }

    error_t start(Exchange const& exchange, void* stream) override {
        std::lock_guard const lock(mutex_);
        if (broken_) return broken();
        CUevent event = nullptr;
        SDPA_GRAPH_TRY(free_event().move_to(event));
        SDPA_GRAPH_TRY(streams_->make_wait(streams_->own(), static_cast<CUstream>(stream), event));
        SDPA_GRAPH_TRY(fail_on(enqueue(exchange)));
        SDPA_GRAPH_TRY(streams_->record(event));
        started_.push_back(event);
        return {};
    }

    error_t finish(Exchange const& exchange, void* stream) override {
        std::lock_guard const lock(mutex_);
        if (broken_) return broken();
        CUevent const event = started_.front();
        started_.pop_front();
        free_.push_back(event);
        auto* const waiting = static_cast<CUstream>(stream);
        if (!is_timed_) return streams_->make_wait_for(waiting, event);
        CUevent begin = nullptr, end = nullptr;
        SDPA_GRAPH_TRY(timed_event().move_to(begin));
        SDPA_GRAPH_TRY(timed_event().move_to(end));
        timed_.push_back({exchange.content, group::bytes_of(exchange.receives), begin, end});
        SDPA_GRAPH_TRY(streams_->record_on(waiting, begin));
        SDPA_GRAPH_TRY(streams_->make_wait_for(waiting, event));
        return streams_->record_on(waiting, end);
    }

    void measure(bool is_on) noexcept override {
        std::lock_guard const lock(mutex_);
        is_measured_ = is_on;
    }

    Result<std::vector<sdpa_graph::Exchange_time>> exchange_times() override {
        std::lock_guard const lock(mutex_);
        std::vector<sdpa_graph::Exchange_time> times;
        for (TimedExchange const& timed : timed_) {
            auto const milliseconds = streams_->milliseconds_between(timed.begin, timed.end);
            if (milliseconds.is_bad()) return milliseconds.error();
            times.push_back({timed.content, milliseconds.value(), timed.received_bytes});
        }
        return times;
    }

    void end(error_t const& outcome) noexcept override {
        std::lock_guard const lock(mutex_);
        is_running_ = false;
        if (outcome.is_bad()) break_group([&] { return text("rank ", rank(), " failed: ", outcome.err_msg); });
    }

    error_t check() override {
        std::lock_guard const lock(mutex_);
        return check_async();
    }

    error_t wait_for(void* stream) override {
        Deadline const deadline(deadline_);
        for (bool is_done = false; !is_done; std::this_thread::sleep_for(kPause)) {
            std::lock_guard const lock(mutex_);
            SDPA_GRAPH_TRY(look_at(static_cast<CUstream>(stream), "work on the stream", deadline).move_to(is_done));
        }
        return {};
    }

    void give_up(std::string const& reason) noexcept override {
        std::lock_guard const lock(mutex_);
        break_group([&] { return text("rank ", rank(), " ended the group: ", reason); });
    }

   private:
    struct TimedExchange {
        std::string content;
        std::int64_t received_bytes;
        CUevent begin, end;
    };

    // Work that is captured runs later, if at all.
    error_t begin_times(CUstream stream) {
        auto const is_capturing = is_measured_ ? streams_->is_capturing(stream) : Result<bool>(true);
        if (is_capturing.is_bad()) return is_capturing.error();
        is_timed_ = !is_capturing.value();
        if (!is_timed_) return {};
        for (TimedExchange const& timed : timed_) {
            free_timed_.push_back(timed.begin);
            free_timed_.push_back(timed.end);
        }
        timed_.clear();
        return {};
    }

    Result<CUevent> timed_event() {
        if (free_timed_.empty()) return streams_->make_timed_event();
        CUevent const event = free_timed_.back();
        free_timed_.pop_back();
        return event;
    }

    error_t broken() const { return rules::broken(*broken_); }

    static error_t lost_context(error_t error) {
        error.err_msg += "; the GPU's context is lost if other calls of CUDA fail too: start the process anew";
        return error;
    }

    // From now on every call is an error with the reason.
    template <class Reason>
    void keep_reason(Reason const& reason) noexcept {
        broken_.emplace();
        static_cast<void>(core::guarded([&]() -> error_t {
            broken_ = reason();
            return {};
        }));
    }

    // Aborting ends what NCCL waits for on this GPU, and the other ranks see an error or their deadline.
    template <class Reason>
    void break_group(Reason const& reason) noexcept {
        if (broken_) return;
        keep_reason(reason);
        if (!is_own_) return;
        library_.abandon(communicator_);
        is_aborted_ = true;
    }

    error_t fail_on(error_t error) {
        if (error.is_bad()) break_group([&] { return error.err_msg; });
        return error;
    }

    error_t check_async() {
        if (broken_) return broken();
        int state = kSuccess;
        int const asked = library_.async_error(communicator_, &state);
        int const result = asked != kSuccess ? asked : state;
        if (result == kSuccess || result == kInProgress) return {};
        return fail_on(error_of(library_, result, "work of NCCL on the GPU", communicator_));
    }

    error_t call(int result, char const* name) {
        return settle(library_, communicator_, result, name, rank(), deadline_);
    }

    // All pieces progress together, whatever their order.
    error_t enqueue(Exchange const& exchange) {
        SDPA_GRAPH_TRY(call(library_.start_group(), "ncclGroupStart"));
        error_t failure;
        for (Piece const& piece : exchange.sends) {
            int const result = library_.send(piece.memory, static_cast<std::size_t>(piece.bytes), kBytes, piece.rank,
                                             communicator_, streams_->own());
            note(failure, result, "ncclSend", exchange);
        }
        for (Piece const& piece : exchange.receives) {
            int const result = library_.receive(piece.memory, static_cast<std::size_t>(piece.bytes), kBytes, piece.rank,
                                                communicator_, streams_->own());
            note(failure, result, "ncclRecv", exchange);
        }
        int const ended = library_.end_group();
        // Pieces that were accepted may wait for those that were not.
        if (failure.is_bad()) return failure;
        return settle(library_, communicator_, ended, "exchange of " + exchange.content, rank(), deadline_);
    }

    // Within a group a call that is in progress is no error.
    void note(error_t& failure, int result, char const* name, Exchange const& exchange) const {
        if (failure.is_bad() || result == kSuccess || result == kInProgress) return;
        failure = error_of(library_, result, text(name, " in the exchange of ", exchange.content), communicator_);
    }

    Result<CUevent> free_event() {
        if (free_.empty()) return streams_->make_event();
        CUevent const event = free_.back();
        free_.pop_back();
        return event;
    }

    // Ranks compare hashes of what they have to agree on, once for each program and never while a stream is captured.
    error_t agree(std::string const& agreement, CUstream stream) {
        if (agreed_.contains(agreement)) return {};
        auto const is_capturing = streams_->is_capturing(stream);
        if (is_capturing.is_bad()) return is_capturing.error();
        if (is_capturing.value()) return {};
        std::vector<std::uint64_t> all(static_cast<std::size_t>(size()) + 1, hash_of(agreement));
        SDPA_GRAPH_TRY(fail_on(gather_hashes(all)));
        for (int peer = 0; peer < size(); ++peer) {
            if (all[static_cast<std::size_t>(peer)] == all.back()) continue;
            error_t difference = rules::violation(
                rules::kAgreement, text("rank ", rank(), " has ", agreement, ", rank ", peer, " something else"),
                "the same on all ranks", "give all ranks the same graph, layout and options, in the same order");
            // Every rank finds a difference by itself. Aborting would end the comparisons of those that are slower.
            keep_reason([&] { return difference.err_msg; });
            return difference;
        }
        agreed_.insert(agreement);
        return {};
    }

    // FNV-1a: equal texts have equal hashes in all processes.
    static std::uint64_t hash_of(std::string_view text) {
        std::uint64_t hash = 14695981039346656037u;
        for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
        return hash;
    }

    // The last number is this rank's; the others become those of all ranks.
    error_t gather_hashes(std::vector<std::uint64_t>& all) {
        auto const bytes = std::as_writable_bytes(std::span(all));
        auto const memory = streams_->allocate(bytes.size());
        if (memory.is_bad()) return memory.error();
        auto* const start = static_cast<std::byte*>(memory.value().get());
        std::byte* const own = start + bytes.size() - sizeof(std::uint64_t);
        SDPA_GRAPH_TRY(streams_->upload(own, bytes.last(sizeof(std::uint64_t))));
        SDPA_GRAPH_TRY(
            call(library_.all_gather(own, start, sizeof(std::uint64_t), kBytes, communicator_, streams_->own()),
                 "comparison of programs"));
        SDPA_GRAPH_TRY(wait_for_own());
        return streams_->download(bytes, start);
    }

    error_t wait_for_own() {
        Deadline const deadline(deadline_);
        for (bool is_done = false; !is_done; std::this_thread::sleep_for(kPause)) {
            SDPA_GRAPH_TRY(look_at(streams_->own(), "comparison of programs", deadline).move_to(is_done));
        }
        return {};
    }

    // Whether the stream is done.
    Result<bool> look_at(CUstream stream, char const* step, Deadline const& deadline) {
        SDPA_GRAPH_TRY(check_async());
        auto is_done = streams_->is_done(stream);
        if (is_done.is_bad()) return fail_on(lost_context(is_done.error()));
        if (!is_done.value() && deadline.is_over()) return fail_on(late(rank(), step, deadline_));
        return is_done;
    }

    NcclLibrary const& library_;
    std::unique_ptr<GpuStreams> streams_;
    Communicator communicator_;
    bool is_own_;
    Milliseconds deadline_;

    std::mutex mutex_;
    std::optional<std::string> broken_;  // the reason why nothing runs any more
    bool is_aborted_ = false;            // so that the communicator is gone
    bool is_running_ = false;
    std::set<std::string> agreed_;
    std::deque<CUevent> started_;  // of exchanges that are not finished
    std::vector<CUevent> free_;
    bool is_measured_ = false, is_timed_ = false;  // runs from now on; this run
    std::vector<TimedExchange> timed_;
    std::vector<CUevent> free_timed_;
};

}  // namespace

Result<std::shared_ptr<group::Transport>> join(NcclLibrary const& library, std::unique_ptr<GpuStreams> streams,
                                               UniqueId const& id, int rank, int size, Milliseconds deadline) {
    Config config;
    config.blocking = 0;
    Communicator communicator = nullptr;
    int const result = library.init(&communicator, size, id, rank, &config);
    error_t const joined =
        settle(library, communicator, result, "joining a group of " + std::to_string(size) + " ranks", rank, deadline);
    if (joined.is_bad()) {
        if (communicator != nullptr) library.abandon(communicator);
        return joined;
    }
    return std::shared_ptr<group::Transport>(
        std::make_shared<NcclTransport>(library, std::move(streams), communicator, true, rank, size, deadline));
}

Result<std::shared_ptr<group::Transport>> adopt(NcclLibrary const& library, std::unique_ptr<GpuStreams> streams,
                                                Communicator communicator, Milliseconds deadline) {
    int rank = 0, size = 0;
    SDPA_GRAPH_TRY(error_of(library, library.rank(communicator, &rank), "ncclCommUserRank", communicator));
    SDPA_GRAPH_TRY(error_of(library, library.count(communicator, &size), "ncclCommCount", communicator));
    return std::shared_ptr<group::Transport>(
        std::make_shared<NcclTransport>(library, std::move(streams), communicator, false, rank, size, deadline));
}

Result<UniqueId> make_id(NcclLibrary const& library) {
    UniqueId id{};
    SDPA_GRAPH_TRY(error_of(library, library.make_id(&id), "ncclGetUniqueId"));
    return id;
}

}  // namespace cudnn_frontend::nccl
