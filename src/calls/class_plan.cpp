#include "calls/class_plan.h"

#include <sdpa_graph/place.h>

#include <array>
#include <atomic>

namespace sdpa_graph {
namespace {

constinit std::array<std::atomic<std::int64_t>, 3> counts{};

std::int64_t count_of(calls::PlanSource source) {
    return counts[static_cast<std::size_t>(source)].load(std::memory_order_relaxed);
}

}  // namespace

void calls::count_plan(PlanSource source) {
    counts[static_cast<std::size_t>(source)].fetch_add(1, std::memory_order_relaxed);
}

Plan_counts plan_counts() noexcept {
    using enum calls::PlanSource;
    return {count_of(Built), count_of(Known), count_of(Loaded)};
}

}  // namespace sdpa_graph
