#include "functions/attention/plans.h"

namespace sdpa_graph::attention {
namespace {

fe::Result<Chosen> plan_of(Call const& call, Sizes const& sizes, Form const& form, fe::Target const& target) {
    Chosen chosen{form, shapes_of(call, sizes, form, target), nullptr};
    SDPA_GRAPH_TRY(calls::Plan<Shapes>::find(chosen.shapes, target).move_to(chosen.plan));
    return chosen;
}

bool wants_class(Call const& call) {
    Shape_policy const policy = call.place.shape_policy;
    return policy == Shape_policy::CLASSES || (policy == Shape_policy::AUTO && call.is_on_gpu());
}

// Classes for which no engine made a plan: asking again takes as long as the first time.
fe::core::LastUsed<Shapes const>& refused_classes() {
    static auto* const classes = new fe::core::LastUsed<Shapes const>();  // never destroyed, like plans
    return *classes;
}

bool is_refused(Shapes const& shapes) {
    return refused_classes().find(hash_of(shapes), [&](Shapes const& known) { return known == shapes; }) != nullptr;
}

bool is_refusal(error_t const& failure) {
    using enum fe::error_code_t;
    return failure.code == GRAPH_NOT_SUPPORTED || failure.code == HEURISTIC_QUERY_FAILED ||
           failure.code == GRAPH_EXECUTION_PLAN_CREATION_FAILED;
}

}  // namespace

// Both passes have to drop the same probabilities, which depends on the form: with dropout the error is the call's.
fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, fe::Target const& target) {
    constexpr std::size_t kMostRefused = 1024;
    Form const exact = exact_form(call);
    Form const form = wants_class(call) ? class_form(call, sizes) : exact;
    if (!form.is_class || call.has_dropout()) return plan_of(call, sizes, form, target);
    Shapes const shapes = shapes_of(call, sizes, form, target);
    if (is_refused(shapes)) return plan_of(call, sizes, exact, target);
    auto chosen = plan_of(call, sizes, form, target);
    if (chosen.is_good() || !is_refusal(chosen.error())) return chosen;
    refused_classes().keep(hash_of(shapes), std::make_shared<Shapes const>(shapes), kMostRefused);
    return plan_of(call, sizes, exact, target);
}

}  // namespace sdpa_graph::attention
