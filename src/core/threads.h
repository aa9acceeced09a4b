// A parallel loop.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace cudnn_frontend::core {

// The number of CPUs that the calling thread may use, at least 1: those of the machine, unless its affinity is for
// fewer.
int usable_cpus();

// The threads that a caller chose, or one for each usable CPU where it chose 0.
inline int threads_or_all(int chosen) { return chosen > 0 ? chosen : usable_cpus(); }

// Calls task(context, worker, index) for each index below count, with workers from 0 to at most threads - 1. A worker
// runs one task at a time; the calling thread is worker 0. Other workers are threads that the process keeps for all
// calls, and which run a task with the caller's rounding, on the caller's CPUs: a task may call this too, and so may
// several threads and the child of a fork(). If threads cannot be started, fewer do all the work. If a task throws, no
// other one starts, and the caller gets its exception. A process that exits waits for tasks that run, not for all tasks
// of a call that another thread makes.
void run_tasks(int threads, std::int64_t count, void (*task)(void* context, int worker, std::int64_t index),
               void* context);

// Body is callable as body(int worker, std::int64_t index).
template <class Body>
void parallel_for(int threads, std::int64_t count, Body&& body) {
    using BodyType = std::remove_reference_t<Body>;
    auto const call = [](void* context, int worker, std::int64_t index) {
        (*static_cast<BodyType*>(context))(worker, index);
    };
    run_tasks(threads, count, call, const_cast<void*>(static_cast<void const*>(std::addressof(body))));
}

}  // namespace cudnn_frontend::core
