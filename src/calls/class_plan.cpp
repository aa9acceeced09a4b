#include "calls/class_plan.h"

#include <array>
#include <atomic>

namespace sdpa_graph {
namespace {

constinit std::array<std::atomic<std::int64_t>, 3> counts{};

std::int64_t count_of(calls::PlanSource source) {
    return counts[static_cast<std::size_t>(source)].load(std::memory_order_relaxed);
}

}  // namespace

Shape_policy calls::policy_of(Place const& place) {
    auto const said = place.shape_policy ? place.shape_policy : cudnn_frontend::runtime::shape_policy();
    return said.value_or(Shape_policy::AUTO);
}

bool calls::wants_classes(Place const& place, Tensor_view const& tensor) {
    bool const is_on_gpu = tensor.device == Device_kind::CUDA;
    Shape_policy const policy = policy_of(place);
    return policy == Shape_policy::CLASSES || (policy == Shape_policy::AUTO && is_on_gpu);
}

Shape_policy calls::policy_of_graph(Place const& place) {
    return policy_of(place) == Shape_policy::ALL_SHAPES ? Shape_policy::ALL_SHAPES : Shape_policy::EXACT;
}

void calls::count_plan(PlanSource source) {
    counts[static_cast<std::size_t>(source)].fetch_add(1, std::memory_order_relaxed);
}

bool calls::is_refusal(cudnn_frontend::error_t const& failure) {
    using enum cudnn_frontend::error_code_t;
    return failure.code == GRAPH_NOT_SUPPORTED || failure.code == HEURISTIC_QUERY_FAILED ||
           failure.code == GRAPH_EXECUTION_PLAN_CREATION_FAILED;
}

Plan_counts plan_counts() noexcept {
    using enum calls::PlanSource;
    return {count_of(Built), count_of(Known), count_of(Loaded)};
}

}  // namespace sdpa_graph
