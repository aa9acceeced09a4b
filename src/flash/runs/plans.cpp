#include "attention/shape_classes.h"
#include "flash/runs/runs.h"

namespace sdpa_graph::flash {
namespace {

using enum Argument;

// Slopes are read by a score modifier, which keeps plans from being resized.
bool has_kind(Call const& call) { return call.is_on_gpu() && !call.is_packed && !call.has(AlibiSlopes); }

// Both passes have to drop the same probabilities, which depends on the plan.
bool may_change(Call const& call) {
    return calls::policy_of(*call.place) == Shape_policy::AUTO && !call.is_packed && !call.has_dropout() &&
           !call.is_deterministic;
}

}  // namespace

fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    calls::PlanChoice<Shapes> const choice(lease);
    auto const shapes_with = [&](Bounds bounds) { return shapes_of(call, sizes, bounds, lease.target); };
    Bounds const bounds = bounds_of(call);
    Shapes const own = shapes_with(bounds);
    if (own.policy == Shape_policy::ALL_SHAPES && has_kind(call)) return choice.resize_or_plan(own);
    if (bounds == Bounds::OfClass && may_change(call)) {
        // With few queries the keys of a class are divided among multiprocessors, which is faster.
        bool const has_few_queries = sizes.queries <= fe::attention::kFewQueries;
        auto ready = choice.find_ready(shapes_with(Bounds::Near),
                                       {.has_class = own.is_packed, .has_kind = !has_few_queries && has_kind(call)});
        if (ready) return *std::move(ready);
    }
    return choice.find_or_plan(own);
}

Shapes kind_of(Shapes shapes) {
    shapes.slots = shapes.queries = shapes.keys = 0;
    shapes.strides = {};
    return shapes;
}

fe::Result<fe::graph::Resized_plan> resized(fe::graph::Graph const& graph, Shapes const& shapes) {
    fe::core::ShortList<TensorShape, kArguments> held;
    fe::core::ShortList<fe::graph::Tensor_shape, kArguments> all;
    auto const add = [&](Argument argument) {
        held.push_back(shape_in_graph(shapes, argument));
        TensorShape const& shape = *(held.end() - 1);
        all.push_back({static_cast<std::int64_t>(argument), shape.dim.data(), shape.stride.data(), shape.dim.size()});
    };
    for (Argument const argument : {Q, K, V, Out, SoftmaxLse}) add(argument);
    if (shapes.is_backward)
        for (Argument const argument : {DOut, DQ, DK, DV}) add(argument);
    fe::graph::Resized_plan plan;
    SDPA_GRAPH_TRY(fe::graph::Resized_plan::make(graph, all.data(), all.size(), plan));
    return plan;
}

}  // namespace sdpa_graph::flash
