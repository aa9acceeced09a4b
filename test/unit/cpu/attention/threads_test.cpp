#include "support/catch.h"
#include "support/skip.h"

#include "core/threads.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace {

using cudnn_frontend::core::parallel_for;

// Under these, a child of a process with threads may start none, or hang.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kIsUnderSanitizer = true;
#elif defined(__has_feature)
constexpr bool kIsUnderSanitizer = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
constexpr bool kIsUnderSanitizer = false;
#endif

// Whether two threads run a loop's tasks at once: each of the two waits for the other to start.
bool two_threads_run() {
    std::atomic<int> started{0};
    parallel_for(2, 2, [&](int, std::int64_t) {
        ++started;
        while (started < 2) std::this_thread::yield();
    });
    return started == 2;
}

// The exit code of a child process that runs this.
template <class Run>
int in_child(Run run) {
    pid_t const child = fork();
    if (child == 0) {
        alarm(20);  // a child that hangs fails
        _exit(run() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("a parallel loop visits each index once") {
    for (int const threads : {-1, 1, 2, 7}) {
        CAPTURE(threads);
        std::vector<std::atomic<int>> visits(100);
        std::atomic<bool> is_worker_in_range{true};
        parallel_for(threads, 100, [&](int worker, std::int64_t index) {
            ++visits[static_cast<std::size_t>(index)];
            if (worker < 0 || worker >= std::max(threads, 1)) is_worker_in_range = false;
        });
        for (auto const& count : visits) CHECK(count == 1);
        CHECK(is_worker_in_range);
    }
}

TEST_CASE("a parallel loop over nothing does nothing") {
    std::atomic<int> calls{0};
    parallel_for(4, 0, [&](int, std::int64_t) { ++calls; });
    CHECK(calls == 0);
}

TEST_CASE("parallel loops keep their threads") {
    if (kIsUnderSanitizer) return sdpa_test::skip("a sanitizer is here, under which the child of a fork may hang");
    auto const count_threads = [] {
        std::mutex changing;
        std::set<std::thread::id> seen;
        for (int call = 0; call < 20; ++call) {
            std::atomic<int> started{0};
            parallel_for(2, 2, [&](int, std::int64_t) {
                ++started;
                while (started < 2) std::this_thread::yield();
                std::lock_guard const lock(changing);
                seen.insert(std::this_thread::get_id());
            });
        }
        return seen.size();
    };
    CHECK(in_child([&] { return count_threads() == 2; }) == 0);
}

TEST_CASE("parallel loops may be within each other, and run on several threads at once") {
    std::atomic<int> visits{0};
    auto const nest = [&] {
        parallel_for(3, 5, [&](int, std::int64_t) { parallel_for(4, 7, [&](int, std::int64_t) { ++visits; }); });
    };
    std::vector<std::jthread> callers;
    for (int i = 0; i < 6; ++i)
        callers.emplace_back([&] {
            for (int call = 0; call < 50; ++call) nest();
        });
    callers.clear();
    CHECK(visits == 6 * 50 * 5 * 7);
}

TEST_CASE("threads of parallel loops round as their caller does, and get none of the program's signals") {
    if (kIsUnderSanitizer) return sdpa_test::skip("a sanitizer is here, under which the child of a fork may hang");
    CHECK(in_child([] {
              if (!two_threads_run()) return false;
              sigset_t all;
              sigfillset(&all);
              pthread_sigmask(SIG_SETMASK, &all, nullptr);
              kill(getpid(), SIGTERM);  // ends the process if a thread has not blocked it
              std::fesetround(FE_UPWARD);
              std::atomic<int> started{0}, upward{0};
              parallel_for(2, 2, [&](int, std::int64_t) {
                  ++started;
                  while (started < 2) std::this_thread::yield();
                  if (std::fegetround() == FE_UPWARD) ++upward;
              });
              return upward == 2;
          }) == 0);
}

TEST_CASE("the child of a fork has threads of its own for parallel loops") {
    if (kIsUnderSanitizer) return sdpa_test::skip("a sanitizer is here, under which the child of a fork may hang");
    CHECK(two_threads_run());
    CHECK(in_child([] { return two_threads_run(); }) == 0);
    // Also where another thread uses the loop's locks at that moment.
    std::atomic<bool> is_done{false};
    std::jthread const other([&] {
        while (!is_done) parallel_for(2, 2, [](int, std::int64_t) {});
    });
    for (int i = 0; i < 20; ++i) CHECK(in_child([] { return two_threads_run(); }) == 0);
    is_done = true;
}

TEST_CASE("threads of parallel loops stay on one CPU on request") {
    if (kIsUnderSanitizer) return sdpa_test::skip("a sanitizer is here, under which the child of a fork may hang");
    auto const cpus_of_helper = [] {
        std::atomic<int> started{0}, cpus{0};
        parallel_for(2, 2, [&](int worker, std::int64_t) {
            ++started;
            while (started < 2) std::this_thread::yield();
            cpu_set_t set;
            if (worker == 1 && sched_getaffinity(0, sizeof(set), &set) == 0) cpus = CPU_COUNT(&set);
        });
        return cpus.load();
    };
    CHECK(in_child([&] {
              setenv("SDPA_GRAPH_PIN_THREADS", "1", 1);
              return cpus_of_helper() == 1;
          }) == 0);
    CHECK(in_child([&] {
              unsetenv("SDPA_GRAPH_PIN_THREADS");
              cpu_set_t set;
              sched_getaffinity(0, sizeof(set), &set);
              return cpus_of_helper() == CPU_COUNT(&set);
          }) == 0);
}
