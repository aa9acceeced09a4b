#include "host_threads.h"

#include "cuda_words.h"

#include <setjmp.h>
#include <ucontext.h>

#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#elif defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace sdpa_test {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr std::size_t kLargestExchange = 64;                     // bytes of a lane
constexpr unsigned kMostIdleRounds = 5000, kLongestStall = 224;  // rounds

// A stack that turns are taken on, for the sanitizers.
struct HostStack {
    void const* bottom = nullptr;
    std::size_t bytes = 0;
    void* kept = nullptr;  // by the address sanitizer, while others have their turns
};

// Where a thread, or the caller of all, goes on when it has its next turn.
struct TurnStart {
    ucontext_t context;
    jmp_buf jump;
    bool has_jump = false;
};

// Jumps make no system call, which swapcontext() does each time. The sanitizers follow the latter alone.
void go_to(TurnStart& next, TurnStart& own) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    swapcontext(&own.context, &next.context);
#else
    if (_setjmp(own.jump) != 0) return;
    own.has_jump = true;
    if (next.has_jump) _longjmp(next.jump, 1);
    setcontext(&next.context);
#endif
}

struct HostThread {
    TurnStart turn;
    std::unique_ptr<std::byte[]> stack{new std::byte[kStackBytes]};
    HostStack turn_stack{stack.get(), kStackBytes};
    bool has_ended = false;
    std::function<bool()> const* condition = nullptr;  // that the thread waits for
#if defined(__SANITIZE_THREAD__)
    void* fiber = __tsan_create_fiber(0);
    ~HostThread() { __tsan_destroy_fiber(fiber); }
#endif
};

// Threads that wait for each other: the round ends when all have arrived.
struct Meeting {
    unsigned members = 0, arrived = 0, round = 0;
};

// Two sets, so that a thread may begin the next exchange while others still read.
struct Warp {
    bool is_slow = false;
    unsigned stalled_rounds = 0;  // in which the warp will have no turn
    Meeting meeting;
    std::array<std::array<std::byte, 32 * kLargestExchange>, 2> sets;
};

struct MatrixBlock {
    std::vector<HostThread> threads;
    std::vector<Warp> warps;
    Meeting meeting;
    std::array<Meeting, kNamedBarriers> named;
    TurnStart caller;
    HostStack caller_stack;
    std::minstd_rand random;
    std::function<void()> const* work = nullptr;
    unsigned running = 0;
    unsigned idle_rounds = 0;  // in which all threads waited
    std::exception_ptr failure;
#if defined(__SANITIZE_THREAD__)
    void* caller_fiber = __tsan_get_current_fiber();
#endif
};

MatrixBlock* block = nullptr;

// To be called before and after each switch of stacks, also at the first turn of a thread.
void leave_stack([[maybe_unused]] HostStack& left, [[maybe_unused]] HostStack const& entered) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&left.kept, entered.bottom, entered.bytes);
#endif
}
void enter_stack([[maybe_unused]] HostStack const& entered, [[maybe_unused]] HostStack& left) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(entered.kept, &left.bottom, &left.bytes);
#endif
}

void give_turn_back() {
    HostThread& thread = block->threads[block->running];
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(block->caller_fiber, 0);
#endif
    leave_stack(thread.turn_stack, block->caller_stack);
    go_to(block->caller, thread.turn);
    enter_stack(thread.turn_stack, block->caller_stack);
}

void arrive(Meeting& meeting) {
    if (++meeting.arrived < meeting.members) return;
    meeting.arrived = 0;
    ++meeting.round;
}

void meet(Meeting& meeting) {
    unsigned const round = meeting.round;
    arrive(meeting);
    wait_until([&] { return meeting.round != round; });
}

Meeting& named_meeting(unsigned number, unsigned threads) {
    Meeting& meeting = block->named.at(number);
    meeting.members = threads;
    return meeting;
}

void run_thread() {
    enter_stack(block->threads[block->running].turn_stack, block->caller_stack);
    try {
        (*block->work)();
    } catch (...) {
        block->failure = std::current_exception();
    }
    block->threads[block->running].has_ended = true;
    for (;;) give_turn_back();
}

// Lets the thread run without a switch to one that still waits.
void take_turn(unsigned number) {
    HostThread& thread = block->threads[number];
    block->running = number;
    threadIdx.x = number;
    if (thread.condition != nullptr && !(*thread.condition)()) return;
    thread.condition = nullptr;
    block->idle_rounds = 0;
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(thread.fiber, 0);
#endif
    leave_stack(block->caller_stack, thread.turn_stack);
    go_to(thread.turn, block->caller);
    enter_stack(block->caller_stack, thread.turn_stack);
}

void start(HostThread& thread) {
    ucontext_t& context = thread.turn.context;
    getcontext(&context);
    context.uc_stack.ss_sp = thread.stack.get();
    context.uc_stack.ss_size = kStackBytes;
    makecontext(&context, run_thread, 0);
}

// Slow warps have a turn in one of eight rounds on average. They stall rarely, and then for long, so that some fall far
// behind others.
bool has_turn_now(Warp& warp) {
    if (warp.stalled_rounds > 0) {
        --warp.stalled_rounds;
        return false;
    }
    if (warp.is_slow && block->random() / 2 % 16 == 0) {
        warp.stalled_rounds = static_cast<unsigned>(block->random() / 2 % kLongestStall);
    }
    return true;
}

// No thread waits for one that ended, as on a GPU.
bool run_round() {
    bool is_running = false;
    bool has_turn = true;
    for (unsigned number = 0; number < block->threads.size(); ++number) {
        if (number % 32 == 0) has_turn = has_turn_now(block->warps[number / 32]);
        if (block->threads[number].has_ended) continue;
        if (!has_turn) {
            is_running = true;
            continue;
        }
        take_turn(number);
        if (block->failure) return false;
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
    MatrixBlock made;
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
    try {
        while (!made.failure && run_round()) {
            if (++made.idle_rounds > kMostIdleRounds) throw std::logic_error("all threads wait for good");
        }
    } catch (...) {
        made.failure = std::current_exception();
    }
    block = nullptr;
    if (made.failure) std::rethrow_exception(made.failure);
}

void wait_for_block() { meet(block->meeting); }
unsigned block_round() { return block->meeting.round; }

void arrive_at(unsigned number, unsigned threads) { arrive(named_meeting(number, threads)); }
void wait_at(unsigned number, unsigned threads) { meet(named_meeting(number, threads)); }
unsigned named_round(unsigned number) { return block->named.at(number).round; }

void wait_until(std::function<bool()> const& condition) {
    if (condition()) return;
    block->threads[block->running].condition = &condition;
    give_turn_back();
}

std::byte const* exchange_in_warp(void const* mine, std::size_t bytes) {
    if (bytes > kLargestExchange) throw std::logic_error("the exchange is too large");
    Warp& warp = block->warps[block->running / 32];
    auto& set = warp.sets[warp.meeting.round % 2];
    std::memcpy(set.data() + block->running % 32 * bytes, mine, bytes);
    meet(warp.meeting);
    return set.data();
}

}  // namespace sdpa_test
