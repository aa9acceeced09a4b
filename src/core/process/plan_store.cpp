#include "core/process/plan_store.h"

#include "core/process/environment.h"

#include <mutex>
#include <optional>
#include <utility>

namespace cudnn_frontend::core::process {
namespace {

struct ChosenStore {
    std::mutex mutex;
    std::optional<PlanStore> store;
};

// It is never destroyed, since static objects of programs may still plan.
ChosenStore& chosen() {
    static ChosenStore& chosen = *new ChosenStore();
    return chosen;
}

}  // namespace

PlanStore plan_store() {
    ChosenStore& of_process = chosen();
    std::lock_guard const lock(of_process.mutex);
    if (!of_process.store) {
        of_process.store = PlanStore{environment::plan_store(), environment::is_plan_store_frozen(),
                                     environment::wanted_of_plan_store()};
    }
    return *of_process.store;
}

void set_plan_store(PlanStore const& store) {
    ChosenStore& of_process = chosen();
    std::lock_guard const lock(of_process.mutex);
    of_process.store = store;
}

EngineCounts& engine_counts_of_thread() {
    thread_local EngineCounts counts;
    return counts;
}

}  // namespace cudnn_frontend::core::process
