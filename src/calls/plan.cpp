#include "calls/plan.h"

#include <sdpa_graph/place.h>

#include <atomic>

namespace sdpa_graph {
namespace {

constinit std::atomic<std::int64_t> built = 0, found = 0;

}  // namespace

void calls::count_plan(bool is_known) { (is_known ? found : built).fetch_add(1, std::memory_order_relaxed); }

Plan_counts plan_counts() noexcept {
    return {built.load(std::memory_order_relaxed), found.load(std::memory_order_relaxed)};
}

}  // namespace sdpa_graph
