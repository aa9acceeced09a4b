// The time that execute() takes the calling thread, launch by launch and as replays of recorded work.
//
//     bench_cudnn_launches
//
// Microseconds, medians, each pair launched/replayed: of the calling thread on the same memory each time, and on two
// memories by turns; of a call among others in a row; and of a call and the wait for it.
#include "gpu_attention.h"

#include <cudnn_frontend/process.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

namespace {

namespace fe = cudnn_frontend;
using bench::Row;
using Clock = std::chrono::steady_clock;

constexpr int kRounds = 50, kCallsOfRound = 20;  // the GPU's queue is emptied after each round

double microseconds(Clock::time_point begin) {
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

struct Case {
    Row row;
    bool is_backward = false;
    fe::ShapePolicy_t policy = fe::ShapePolicy_t::EXACT;
};

struct Place {
    explicit Place(Case const& of, std::int64_t workspace_bytes)
        : buffers(of.row), workspace(static_cast<std::size_t>(workspace_bytes)) {}

    bench::Buffers buffers;
    bench::Memory workspace;
};

struct Times {
    double same = 0, by_turns = 0, in_a_row = 0, with_wait = 0;
};

class Calls {
   public:
    Calls(Case const& of, bench::Gpu const& gpu) : gpu_(gpu) {
        bench::describe_pass(of.row, of.is_backward, graph_);
        graph_.set_shape_policy(of.policy);
        if (!bench::good(graph_.build(gpu.target()), "build")) return;
        for (auto& place : places_) place = std::make_unique<Place>(of, graph_.get_workspace_size());
        if (of.is_backward && !gpu.prepare_backward(of.row, places_[0]->buffers.pack())) return;
        for (int round = 0; round < 2; ++round) times = time_all();  // the first one warms up
    }

    Times times;

   private:
    bool call(std::size_t place) {
        return bench::good(
            graph_.execute(gpu_.handle(), places_[place]->buffers.pack(), places_[place]->workspace.get()), "execute");
    }

    template <class Call>
    double time_calls(Call const& one) {
        std::vector<double> times;
        for (int round = 0; round < kRounds; ++round) {
            for (int i = 0; i < kCallsOfRound; ++i) {
                auto const begin = Clock::now();
                one(i);
                times.push_back(microseconds(begin));
            }
            cudaStreamSynchronize(gpu_.stream());
        }
        return median(times);
    }

    double time_row() {
        std::vector<double> times;
        for (int round = 0; round < kRounds; ++round) {
            auto const begin = Clock::now();
            for (int i = 0; i < kCallsOfRound; ++i) call(0);
            cudaStreamSynchronize(gpu_.stream());
            times.push_back(microseconds(begin) / kCallsOfRound);
        }
        return median(times);
    }

    Times time_all() {
        Times of;
        of.same = time_calls([&](int) { call(0); });
        of.by_turns = time_calls([&](int i) { call(static_cast<std::size_t>(i % 2)); });
        of.in_a_row = time_row();
        of.with_wait = time_calls([&](int) {
            call(0);
            cudaStreamSynchronize(gpu_.stream());
        });
        return of;
    }

    bench::Gpu const& gpu_;
    fe::graph::Graph graph_;
    std::unique_ptr<Place> places_[2];
};

Row row_of(char const* name, std::int64_t b, std::int64_t h_q, std::int64_t h_k, std::int64_t s_q, std::int64_t s_kv,
           std::int64_t d, bool is_causal) {
    Row row{name, fe::Rewrite_t::BANDS, b, h_q, h_k, s_q, s_kv, d};
    row.rows_first = true;
    row.causal = is_causal;
    return row;
}

}  // namespace

int main() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    bench::Gpu const gpu;
    fe::runtime::set_kept_bytes(0);
    constexpr auto kClasses = fe::ShapePolicy_t::CLASSES;
    Row const small = row_of("b1 h8 s128 d64", 1, 8, 8, 128, 128, 64, false);
    Row const medium = row_of("b4 h16 s1024 d64 causal", 4, 16, 16, 1024, 1024, 64, true);
    Row const grouped = row_of("b2 h32/8 s2048 d128 causal", 2, 32, 8, 2048, 2048, 128, true);
    Case const cases[] = {{small},
                          {medium},
                          {grouped},
                          {row_of("b8 h32/8, 1 query, 4096 keys, d128", 8, 32, 8, 1, 4096, 128, false)},
                          {row_of("b1 h64/8, 8 queries, 65536 keys, d128", 1, 64, 8, 8, 65536, 128, false)},
                          {small, true},
                          {medium, true},
                          {grouped, true},
                          {medium, false, kClasses},
                          {medium, true, kClasses}};
    std::printf("%-52s %13s %13s %15s %15s\n", "", "same memory", "by turns", "in a row", "with the wait");
    for (Case const& of : cases) {
        fe::runtime::set_replay_after(-1);
        Times const launched = Calls(of, gpu).times;
        fe::runtime::set_replay_after(0);
        Times const replayed = Calls(of, gpu).times;
        std::printf("%-9s%-38s%5s", of.is_backward ? "backward" : "forward", of.row.name,
                    of.policy == kClasses ? "class" : "");
        std::printf(" %6.1f/%6.1f %6.1f/%6.1f %7.1f/%7.1f %7.1f/%7.1f\n", launched.same, replayed.same,
                    launched.by_turns, replayed.by_turns, launched.in_a_row, replayed.in_a_row, launched.with_wait,
                    replayed.with_wait);
    }
    return 0;
}
