#include "flash/plan.h"

#include "core/last_used.h"
#include "flash/describe.h"

#include <cudnn_frontend/process.h>

namespace sdpa_graph::flash {
namespace {

// Never destroyed: static objects of a program may call when this library's are gone.
fe::core::LastUsed<Plan const>& known_plans() {
    static auto* const plans = new fe::core::LastUsed<Plan const>();
    return *plans;
}

}  // namespace

fe::Result<std::shared_ptr<Plan const>> Plan::find(Shapes const& shapes, fe::Target const& target) {
    std::size_t const key = hash_of(shapes);
    auto known = known_plans().find(key, [&](Plan const& plan) { return plan.shapes() == shapes; });
    if (known != nullptr) return known;
    std::shared_ptr<Plan> plan(new Plan(shapes));
    describe(shapes, plan->graph_);
    if (error_t failure = plan->graph_.build(target); failure.is_bad()) return failure;
    known_plans().keep(key, plan, fe::runtime::kept_graphs());
    return std::shared_ptr<Plan const>(std::move(plan));
}

}  // namespace sdpa_graph::flash
