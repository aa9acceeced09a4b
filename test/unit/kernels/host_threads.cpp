#include "host_threads.h"

#include "host/cuda_words.h"

#include <ucontext.h>

#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace sdpa_test {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr std::size_t kLargestExchange = 64;  // bytes of a lane

struct HostThread {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};
    bool has_ended = false;
#if defined(__SANITIZE_THREAD__)
    void* fiber = __tsan_create_fiber(0);
    ~HostThread() { __tsan_destroy_fiber(fiber); }
#endif
};

// Threads that meet: the round ends when all have come.
struct Meeting {
    unsigned members = 0, arrived = 0, round = 0;
};

// Two sets, so that a thread may begin the next exchange while others still read.
struct Warp {
    bool is_slow = false;
    Meeting meeting;
    std::array<std::array<std::byte, 32 * kLargestExchange>, 2> sets;
};

struct Block {
    std::vector<HostThread> threads;
    std::vector<Warp> warps;
    Meeting meeting;
    ucontext_t caller;
    std::minstd_rand random;
    std::function<void()> const* work = nullptr;
    unsigned running = 0;
#if defined(__SANITIZE_THREAD__)
    void* caller_fiber = __tsan_get_current_fiber();
#endif
};

Block* block = nullptr;

void give_turn_back() {
    HostThread& thread = block->threads[block->running];
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(block->caller_fiber, 0);
#endif
    swapcontext(&thread.context, &block->caller);
}

void meet(Meeting& meeting) {
    unsigned const round = meeting.round;
    if (++meeting.arrived == meeting.members) {
        meeting.arrived = 0;
        ++meeting.round;
        return;
    }
    while (meeting.round == round) give_turn_back();
}

void run_thread() {
    (*block->work)();
    block->threads[block->running].has_ended = true;
    for (;;) give_turn_back();
}

void take_turn(unsigned number) {
    HostThread& thread = block->threads[number];
    block->running = number;
    threadIdx.x = number;
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(thread.fiber, 0);
#endif
    swapcontext(&block->caller, &thread.context);
}

void start(HostThread& thread) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStackBytes;
    makecontext(&thread.context, run_thread, 0);
}

// Threads that ended no longer meet anyone, as on a GPU.
bool run_round() {
    bool is_running = false;
    bool has_turn = true;
    for (unsigned number = 0; number < block->threads.size(); ++number) {
        if (number % 32 == 0) has_turn = block->warps[number / 32].is_slow ? block->random() % 8 == 0 : true;
        if (block->threads[number].has_ended) continue;
        if (!has_turn) {
            is_running = true;
            continue;
        }
        take_turn(number);
        if (!block->threads[number].has_ended) {
            is_running = true;
            continue;
        }
        for (Meeting* const meeting : {&block->meeting, &block->warps[number / 32].meeting}) {
            if (--meeting->members == 0 || meeting->arrived < meeting->members) continue;
            meeting->arrived = 0;
            ++meeting->round;
        }
    }
    return is_running;
}

}  // namespace

void run_block(unsigned threads, unsigned seed, std::function<void()> const& work) {
    if (threads % 32 != 0) throw std::logic_error("blocks have whole warps");
    Block made;
    made.threads.resize(threads);
    made.warps.resize(threads / 32);
    made.meeting.members = threads;
    for (Warp& warp : made.warps) warp.meeting.members = 32;
    made.work = &work;
    block = &made;
    for (HostThread& thread : made.threads) start(thread);
    made.random.seed(seed + 1);
    // Four warps at a time, since kernels give them work of one kind.
    for (std::size_t warp = 0; warp < made.warps.size(); ++warp) {
        made.warps[warp].is_slow = warp % 4 == 0 ? made.random() % 2 == 0 : made.warps[warp - 1].is_slow;
    }
    while (run_round()) {
    }
    block = nullptr;
}

void let_others_run() { give_turn_back(); }

void wait_for_block() { meet(block->meeting); }

std::byte const* exchange_in_warp(void const* mine, std::size_t bytes) {
    if (bytes > kLargestExchange) throw std::logic_error("the exchange is too large");
    Warp& warp = block->warps[block->running / 32];
    auto& set = warp.sets[warp.meeting.round % 2];
    std::memcpy(set.data() + block->running % 32 * bytes, mine, bytes);
    meet(warp.meeting);
    return set.data();
}

}  // namespace sdpa_test
