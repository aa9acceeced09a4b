#include "core/threads.h"

#include "core/process/environment.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace cudnn_frontend::core {
namespace {

struct Job {
    void (*task)(void* context, int worker, std::int64_t index);
    void* context;
    std::int64_t count;
    int wanted;                  // helpers that may still join
    int joined = 0, active = 0;  // helpers that did, and those of them that have not left
    std::atomic<std::int64_t> next{0};
    std::condition_variable is_left;
    // The caller's state, which all tasks of the job get.
    std::fenv_t environment{};     // rounding and flushing
    cpu_set_t cpus{};              // empty where they are not known
    std::exception_ptr failure{};  // of the first task that threw
};

// No signal reaches the calling thread, nor the threads that it starts: signals are for the program's own threads.
class BlockedSignals {
   public:
    BlockedSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(BlockedSignals const&) = delete;
    BlockedSignals& operator=(BlockedSignals const&) = delete;

   private:
    sigset_t before_{};
};

// The CPUs that the calling thread may use; none where they are not known.
cpu_set_t allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0) CPU_ZERO(&set);
    return set;
}

void move_this_thread(cpu_set_t const& cpus) { sched_setaffinity(0, sizeof(cpus), &cpus); }

// One of the CPUs, and the same one again after as many numbers as there are.
cpu_set_t one_of(cpu_set_t const& cpus, std::size_t number) {
    cpu_set_t one;
    CPU_ZERO(&one);
    auto const count = static_cast<std::size_t>(CPU_COUNT(&cpus));
    std::size_t passed = 0;
    for (int cpu = 0; count > 0 && cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &cpus) && passed++ == number % count) CPU_SET(cpu, &one);
    }
    return one;
}

// Threads that wait for jobs. A caller works on its own job, so that one from within a task, or with no helper free,
// ends as well.
class Helpers {
   public:
    bool are_of_this_process() const { return owner_ == getpid(); }

    void run(Job& job) {
        int const wanted = job.wanted;
        std::fegetenv(&job.environment);
        if (!pins_) job.cpus = allowed_cpus();
        {
            std::lock_guard const lock(mutex_);
            open_.push_back(&job);
            start_missing(wanted);
        }
        for (int i = 0; i < wanted; ++i) has_job_.notify_one();
        work(job, 0);
        std::unique_lock lock(mutex_);
        std::erase(open_, &job);
        job.is_left.wait(lock, [&] { return job.active == 0; });
        if (job.failure) std::rethrow_exception(job.failure);
    }

    // Ends all helpers, each after the task that it runs. The other tasks of jobs that go on are left to their callers.
    void stop() {
        {
            std::lock_guard const lock(mutex_);
            is_stopping_ = true;
        }
        has_job_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

   private:
    // If a thread cannot be started, fewer do all the work.
    void start_missing(int wanted) {
        std::int64_t needed = 0;
        for (Job const* job : open_) needed += job->wanted;
        auto const cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
        std::int64_t const most = std::max<std::int64_t>(wanted, cores - 1);
        if (is_stopping_ || idle_ >= needed || std::ssize(threads_) >= most) return;
        BlockedSignals const blocked;
        try {
            while (idle_ < needed && std::ssize(threads_) < most) {
                threads_.emplace_back([this, number = threads_.size()] { help(number); });
                ++idle_;
            }
        } catch (std::exception const&) {
        }
    }

    void help(std::size_t number) {
        if (pins_) move_this_thread(one_of(cpus_, number + 1));  // the first CPU is left to the caller
        cpu_set_t cpus{};
        std::unique_lock lock(mutex_);
        while (true) {
            auto found = open_.end();
            has_job_.wait(lock, [&] {
                found = std::ranges::find_if(open_, [](Job const* job) { return job->wanted > 0; });
                return is_stopping_ || found != open_.end();
            });
            if (is_stopping_) return;
            Job& job = **found;
            --job.wanted, --idle_, ++job.active;
            int const worker = ++job.joined;
            lock.unlock();
            std::fesetenv(&job.environment);
            if (CPU_EQUAL(&job.cpus, &cpus) == 0) move_this_thread(cpus = job.cpus);
            work(job, worker);
            lock.lock();
            ++idle_;
            if (--job.active == 0) job.is_left.notify_one();
        }
    }

    // After a task that threw no other one of the job starts.
    void work(Job& job, int worker) {
        try {
            bool const is_helper = worker > 0;
            while (!is_helper || !is_stopping_.load(std::memory_order_relaxed)) {
                std::int64_t const index = job.next.fetch_add(1, std::memory_order_relaxed);
                if (index >= job.count) return;
                job.task(job.context, worker, index);
            }
        } catch (...) {
            job.next = job.count;
            std::lock_guard const lock(mutex_);
            if (!job.failure) job.failure = std::current_exception();
        }
    }

    pid_t const owner_ = getpid();
    bool const pins_ = environment::pins_threads();
    cpu_set_t const cpus_ = allowed_cpus();
    std::mutex mutex_;
    std::condition_variable has_job_;
    std::vector<Job*> open_;
    std::vector<std::thread> threads_;
    std::int64_t idle_ = 0;
    std::atomic<bool> is_stopping_ = false;
};

// They are never destroyed, since a program's static objects may still call. A child of fork() has none of its parent's
// threads, and a lock that another thread held stays locked in it: so it gets helpers of its own.
constinit std::atomic<Helpers*> current{nullptr};

// The helpers end before their code is unloaded.
void stop_at_exit() {
    static constinit std::atomic<bool> is_known{false};
    if (is_known.exchange(true)) return;
    static_cast<void>(std::atexit([] {
        if (Helpers* const all = current.load(); all->are_of_this_process()) all->stop();
    }));
}

Helpers& helpers() {
    Helpers* all = current.load();
    while (all == nullptr || !all->are_of_this_process()) {
        auto* const own = new Helpers();
        if (current.compare_exchange_strong(all, own)) {
            stop_at_exit();
            return *own;
        }
        delete own;
    }
    return *all;
}

}  // namespace

int usable_cpus() {
    cpu_set_t const allowed = allowed_cpus();
    int const count = CPU_COUNT(&allowed);
    return count > 0 ? count : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void run_tasks(int threads, std::int64_t count, void (*task)(void* context, int worker, std::int64_t index),
               void* context) {
    std::int64_t const workers = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(count, 1));
    if (workers == 1) {
        for (std::int64_t index = 0; index < count; ++index) task(context, 0, index);
        return;
    }
    Job job{.task = task, .context = context, .count = count, .wanted = static_cast<int>(workers) - 1};
    helpers().run(job);
}

}  // namespace cudnn_frontend::core
