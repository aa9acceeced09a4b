#include "group/threads.h"

#include "core/guard.h"
#include "core/text.h"
#include "group/group_rules.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace cudnn_frontend::group {
namespace {

using core::text;

// An exchange that a rank has started, with the pieces that others copy from it.
struct Offer {
    std::string content;
    std::vector<Piece> sends;
    std::vector<int> readers;  // ranks that have not copied yet
};

struct RankState {
    bool is_there = true, is_running = false;
    std::string agreement;      // of its run
    std::string last_content;   // of the exchange that it started last
    std::deque<Offer> offers;   // not finished
    std::int64_t finished = 0;  // exchanges; the first offer has this number
    int copying = 0;            // ranks that copy from its memory now
    std::int64_t started() const { return finished + static_cast<std::int64_t>(offers.size()); }
};

// The state that all ranks share.
struct Hub {
    Hub(int size, Milliseconds limit) : members(static_cast<std::size_t>(size)), deadline(limit) {}

    RankState& at(int rank) { return members[static_cast<std::size_t>(rank)]; }

    std::mutex mutex;
    std::condition_variable changed;
    std::vector<RankState> members;
    Milliseconds deadline;
    std::optional<std::string> broken;  // the reason why nothing runs any more
};

// The ranks of some pieces, each once, without the rank itself.
std::vector<int> others_of(std::vector<Piece> const& pieces, int self) {
    std::vector<int> ranks;
    for (Piece const& piece : pieces) {
        if (piece.rank != self && std::ranges::find(ranks, piece.rank) == ranks.end()) ranks.push_back(piece.rank);
    }
    return ranks;
}

std::vector<Piece> pieces_of(std::vector<Piece> const& pieces, int rank) {
    std::vector<Piece> own;
    std::ranges::copy_if(pieces, std::back_inserter(own), [&](Piece const& piece) { return piece.rank == rank; });
    return own;
}

std::string sizes_text(std::vector<Piece> const& pieces) {
    std::string list;
    for (Piece const& piece : pieces) list += text(list.empty() ? "" : ", ", piece.bytes);
    return text(static_cast<std::int64_t>(pieces.size()), " pieces of [", list, "] bytes");
}

bool have_same_sizes(std::vector<Piece> const& a, std::vector<Piece> const& b) {
    return std::ranges::equal(a, b, {}, &Piece::bytes, &Piece::bytes);
}

void copy(std::vector<Piece> const& from, std::vector<Piece> const& to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::memcpy(to[i].memory, from[i].memory, static_cast<std::size_t>(to[i].bytes));
    }
}

class ThreadTransport final : public Transport {
   public:
    ThreadTransport(std::shared_ptr<Hub> hub, int rank)
        : Transport(rank, static_cast<int>(hub->members.size()), Medium::Host), hub_(std::move(hub)) {}

    ~ThreadTransport() override {
        Lock lock(hub_->mutex);
        own().is_there = false;
        wait_for_readers(lock);
        hub_->changed.notify_all();
    }

    error_t begin(std::string const& agreement, void*) override {
        Lock const lock(hub_->mutex);
        if (hub_->broken) return broken();
        if (own().is_running) {
            return rules::violation(rules::kAlone, text("a second run of rank ", rank(), " during ", own().agreement),
                                    "one run of a rank at a time",
                                    "run graphs of a rank from one thread, or make a group for each thread");
        }
        own().is_running = true;
        own().agreement = agreement;
        if (is_measured_) times_.clear();
        return {};
    }

    error_t start(Exchange const& exchange, void*) override {
        Lock const lock(hub_->mutex);
        if (hub_->broken) return broken();
        own().last_content = exchange.content;
        own().offers.push_back({exchange.content, exchange.sends, others_of(exchange.sends, rank())});
        hub_->changed.notify_all();
        return {};
    }

    error_t finish(Exchange const& exchange, void*) override {
        auto const begin = std::chrono::steady_clock::now();
        SDPA_GRAPH_TRY(finish_now(exchange));
        std::chrono::duration<double, std::milli> const waited = std::chrono::steady_clock::now() - begin;
        Lock const lock(hub_->mutex);
        if (is_measured_) times_.push_back({exchange.content, waited.count(), bytes_of(exchange.receives)});
        return {};
    }

    void measure(bool is_on) noexcept override {
        Lock const lock(hub_->mutex);
        is_measured_ = is_on;
    }

    Result<std::vector<sdpa_graph::Exchange_time>> exchange_times() override {
        Lock const lock(hub_->mutex);
        return times_;
    }

    error_t finish_now(Exchange const& exchange) {
        copy(pieces_of(exchange.sends, rank()), pieces_of(exchange.receives, rank()));
        Lock lock(hub_->mutex);
        for (int const peer : others_of(exchange.receives, rank())) SDPA_GRAPH_TRY(copy_from(peer, exchange, lock));
        SDPA_GRAPH_TRY(wait_until_copied(exchange, lock));
        own().offers.pop_front();
        ++own().finished;
        return {};
    }

    void end(error_t const& outcome) noexcept override {
        Lock lock(hub_->mutex);
        own().is_running = false;
        if (outcome.is_good()) return;
        break_group([&] { return text("rank ", rank(), " failed: ", outcome.err_msg); });
        own().offers.clear();
        wait_for_readers(lock);
    }

    error_t check() override {
        Lock const lock(hub_->mutex);
        return hub_->broken ? broken() : error_t();
    }

    error_t wait_for(void*) override { return check(); }

    void give_up(std::string const& reason) noexcept override {
        Lock const lock(hub_->mutex);
        break_group([&] { return text("rank ", rank(), " ended the group: ", reason); });
    }

   private:
    using Lock = std::unique_lock<std::mutex>;

    RankState& own() { return hub_->at(rank()); }

    error_t broken() const { return rules::broken(*hub_->broken); }

    // The first reason stays. If memory runs out, the reason is empty.
    template <class Reason>
    void break_group(Reason const& reason) noexcept {
        if (!hub_->broken) {
            hub_->broken.emplace();
            static_cast<void>(core::guarded([&]() -> error_t {
                hub_->broken = reason();
                return {};
            }));
        }
        hub_->changed.notify_all();
    }

    error_t fail(error_t error) {
        break_group([&] { return error.err_msg; });
        return error;
    }

    // The memory of a rank that goes is the caller's again once nobody copies from it.
    void wait_for_readers(Lock& lock) {
        hub_->changed.wait(lock, [&] { return own().copying == 0; });
    }

    // Waits for a rank until the condition holds. Returns the error of a group that breaks first.
    template <class Condition>
    error_t wait(Lock& lock, int peer, Exchange const& exchange, char const* for_what, Condition const& holds) {
        auto const is_over = [&] { return hub_->broken || !hub_->at(peer).is_there || holds(); };
        bool const is_in_time = hub_->changed.wait_for(lock, hub_->deadline, is_over);
        if (hub_->broken) return broken();
        if (holds()) return {};
        if (!is_in_time) return fail(late(peer, exchange, for_what));
        return fail(rules::violation(rules::kWorking,
                                     text("rank ", peer, " gone, while rank ", rank(), " waits for ", for_what,
                                          " in the exchange of ", exchange.content),
                                     "a group of which every rank works", "look for the error of that rank"));
    }

    error_t late(int peer, Exchange const& exchange, char const* for_what) {
        RankState const& other = hub_->at(peer);
        std::string const last = other.last_content.empty() ? " has started no exchange"
                                                            : "'s last exchange is that of " + other.last_content;
        return rules::violation(
            rules::kInTime,
            text("rank ", rank(), " waiting for ", for_what, " of rank ", peer, " for ",
                 static_cast<std::int64_t>(hub_->deadline.count()), " ms in the exchange of ", exchange.content,
                 "; rank ", peer, last, other.is_running ? "" : ", and it runs no graph"),
            "every rank to run the same graphs", "look for the error of that rank, or set a longer deadline");
    }

    error_t copy_from(int peer, Exchange const& exchange, Lock& lock) {
        std::int64_t const number = own().finished;
        RankState& other = hub_->at(peer);
        SDPA_GRAPH_TRY(wait(lock, peer, exchange, "the pieces", [&] { return other.started() > number; }));
        if (other.finished > number) return disagree_about_pieces(peer, exchange);
        Offer& offer = other.offers[static_cast<std::size_t>(number - other.finished)];
        std::vector<Piece> const from = pieces_of(offer.sends, rank()), to = pieces_of(exchange.receives, peer);
        SDPA_GRAPH_TRY(check_fit(peer, exchange, offer, from, to));
        ++other.copying;
        lock.unlock();
        copy(from, to);
        lock.lock();
        --other.copying;
        hub_->changed.notify_all();
        if (hub_->broken) return broken();
        std::erase(offer.readers, rank());
        return {};
    }

    error_t disagree(std::string const& here, int peer, std::string const& there) {
        return fail(rules::violation(
            rules::kAgreement, text("rank ", rank(), " has ", here, ", rank ", peer, " has ", there),
            "the same on all ranks", "give all ranks the same graph, layout and options, in the same order"));
    }

    error_t disagree_about_pieces(int peer, Exchange const& exchange) {
        return disagree("pieces in the exchange of " + exchange.content, peer, "none for it");
    }

    error_t check_fit(int peer, Exchange const& exchange, Offer const& offer, std::vector<Piece> const& from,
                      std::vector<Piece> const& to) {
        RankState const& other = hub_->at(peer);
        if (other.agreement != own().agreement) return disagree(own().agreement, peer, other.agreement);
        if (offer.content != exchange.content) return disagree(exchange.content, peer, offer.content);
        if (!have_same_sizes(from, to)) return disagree(sizes_text(to), peer, sizes_text(from));
        return {};
    }

    error_t wait_until_copied(Exchange const& exchange, Lock& lock) {
        std::int64_t const number = own().finished;
        Offer const& offer = own().offers.front();
        for (int const peer : others_of(exchange.sends, rank())) {
            auto const has_copied = [&] { return std::ranges::find(offer.readers, peer) == offer.readers.end(); };
            SDPA_GRAPH_TRY(wait(lock, peer, exchange, "the copies",
                                [&] { return has_copied() || hub_->at(peer).finished > number; }));
            if (!has_copied()) return disagree_about_pieces(peer, exchange);
        }
        return {};
    }

    std::shared_ptr<Hub> hub_;
    bool is_measured_ = false;
    std::vector<sdpa_graph::Exchange_time> times_;
};

// A rank of which only plans are made.
class DescribedTransport final : public Transport {
   public:
    DescribedTransport(int rank, int size) : Transport(rank, size, Medium::None) {}

    error_t begin(std::string const&, void*) override { return refusal(); }
    error_t start(Exchange const&, void*) override { return refusal(); }
    error_t finish(Exchange const&, void*) override { return refusal(); }
    void end(error_t const&) noexcept override {}
    void measure(bool) noexcept override {}
    Result<std::vector<sdpa_graph::Exchange_time>> exchange_times() override {
        return std::vector<sdpa_graph::Exchange_time>();
    }
    error_t check() override { return {}; }
    error_t wait_for(void*) override { return {}; }
    void give_up(std::string const&) noexcept override {}

   private:
    error_t refusal() const {
        return rules::violation(rules::kWorking, text("a run of rank ", rank(), " of a group that is only described"),
                                "a group that can exchange data", "make it by Group::of_nccl() or of_threads()");
    }
};

}  // namespace

std::vector<std::shared_ptr<Transport>> make_threads(int size, Milliseconds deadline) {
    auto const hub = std::make_shared<Hub>(size, deadline);
    std::vector<std::shared_ptr<Transport>> ranks;
    ranks.reserve(static_cast<std::size_t>(size));
    for (int rank = 0; rank < size; ++rank) ranks.push_back(std::make_shared<ThreadTransport>(hub, rank));
    return ranks;
}

std::shared_ptr<Transport> make_described(int rank, int size) {
    return std::make_shared<DescribedTransport>(rank, size);
}

}  // namespace cudnn_frontend::group
