#include "core/threads.h"
#include "support/catch.h"
#include "support/sanitizers.h"
#include "support/skip.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using cudnn_frontend::core::parallel_for;
using cudnn_frontend::core::usable_cpus;

// Under a sanitizer, a child of a process with threads may start none, or hang.
using sdpa_test::kIsUnderSanitizer;

// Whether two threads run a loop's tasks at once: each of the two waits for the other to start.
bool two_threads_run() {
    std::atomic<int> started{0};
    parallel_for(2, 2, [&](int, std::int64_t) {
        ++started;
        while (started < 2) std::this_thread::yield();
    });
    return started == 2;
}

// The number of CPUs on which the thread that helps with a loop may run.
int cpus_of_helper() {
    std::atomic<int> started{0}, cpus{0};
    parallel_for(2, 2, [&](int worker, std::int64_t) {
        ++started;
        while (started < 2) std::this_thread::yield();
        cpu_set_t set;
        if (worker == 1 && sched_getaffinity(0, sizeof(set), &set) == 0) cpus = CPU_COUNT(&set);
    });
    return cpus;
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

cpu_set_t allowed_cpus() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof(cpus), &cpus);
    return cpus;
}

cpu_set_t first_of(cpu_set_t const& cpus) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0 && cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &cpus)) CPU_SET(cpu, &one);
    }
    return one;
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
    // It is so also where another thread uses the loop's locks at that moment.
    std::atomic<bool> is_done{false};
    std::jthread const other([&] {
        while (!is_done) parallel_for(2, 2, [](int, std::int64_t) {});
    });
    for (int i = 0; i < 20; ++i) CHECK(in_child([] { return two_threads_run(); }) == 0);
    is_done = true;
}

TEST_CASE("threads of parallel loops stay on one CPU on request") {
    if (kIsUnderSanitizer) return sdpa_test::skip("a sanitizer is here, under which the child of a fork may hang");
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

TEST_CASE("threads of parallel loops run on the CPUs of each caller, not on those of the first one") {
    if (kIsUnderSanitizer) return sdpa_test::skip("a sanitizer is here, under which the child of a fork may hang");
    cpu_set_t const all = allowed_cpus(), one = first_of(all);
    if (CPU_COUNT(&all) < 2) return sdpa_test::skip("this process may use one CPU alone");
    CHECK(in_child([&] {
              unsetenv("SDPA_GRAPH_PIN_THREADS");
              sched_setaffinity(0, sizeof(one), &one);
              bool const is_first_on_one = cpus_of_helper() == 1;
              sched_setaffinity(0, sizeof(all), &all);
              bool const is_next_on_all = cpus_of_helper() == CPU_COUNT(&all);
              sched_setaffinity(0, sizeof(one), &one);
              return is_first_on_one && is_next_on_all && cpus_of_helper() == 1;
          }) == 0);
}

TEST_CASE("usable CPUs are those of the calling thread, not all of the machine") {
    cpu_set_t const all = allowed_cpus(), one = first_of(all);
    if (CPU_COUNT(&all) < 2) return sdpa_test::skip("this process may use one CPU alone");
    CHECK(usable_cpus() == CPU_COUNT(&all));
    int of_other = 0;
    std::thread([&] {
        sched_setaffinity(0, sizeof(one), &one);
        of_other = usable_cpus();
    }).join();
    CHECK(of_other == 1);
}

TEST_CASE("an exception of a task ends its parallel loop and reaches the caller") {
    constexpr std::int64_t kTasks = 10'000;
    for (int const thrower : {0, 1}) {
        std::atomic<int> started{0}, tasks{0};
        std::string caught;
        try {
            parallel_for(2, kTasks, [&](int worker, std::int64_t) {
                int const number = ++tasks;
                if (number <= 2) {  // each of the two workers has a task
                    ++started;
                    while (started < 2) std::this_thread::yield();
                }
                // Unwinding takes some time, in which the other worker must not do all tasks.
                if (number > 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                if (worker == thrower) throw std::runtime_error("task of worker " + std::to_string(worker));
            });
        } catch (std::runtime_error const& error) {
            caught = error.what();
        }
        CHECK(caught == "task of worker " + std::to_string(thrower));
        CHECK(tasks < kTasks);
        CHECK(two_threads_run());
    }
}

TEST_CASE("a process that exits waits for a task of a parallel loop, not for all of another thread's loop") {
    if (kIsUnderSanitizer) return sdpa_test::skip("a sanitizer is here, under which the child of a fork may hang");
    auto const begin = std::chrono::steady_clock::now();
    pid_t const child = fork();
    if (child == 0) {
        alarm(20);
        static std::atomic<bool> is_helped{false};
        std::thread([] {
            parallel_for(2, 1000, [](int worker, std::int64_t) {
                if (worker == 1) is_helped = true;
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            });
        }).detach();
        while (!is_helped) std::this_thread::yield();
        std::exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));  // the loop takes ten
}
