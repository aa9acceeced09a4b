#include "attention/shape_classes.h"
#include "flash/runs/runs.h"

namespace sdpa_graph::flash {
namespace {

using enum Argument;

// Slopes are read by a score modifier, which keeps plans from being resized.
bool may_resize(Call const& call) { return call.is_on_gpu() && !call.is_packed && !call.has(AlibiSlopes); }

// The engine of resized plans does not split keys among multiprocessors, which few queries need. A right bound that
// equals the number of keys changes with it.
bool has_kind(Call const& call, Shapes const& exact) {
    return may_resize(call) && exact.queries > fe::attention::kFewQueries && exact.band.right != exact.keys;
}

// Whether the plan may differ from call to call. With dropout both passes need one plan, since it decides which
// probabilities are dropped; deterministic calls keep one for equal bits.
bool may_use_other_plans(Call const& call) {
    bool const is_deterministic = call.is_deterministic || call.place->is_deterministic;
    return calls::policy_of(*call.place) == Shape_policy::AUTO && !call.is_packed && !call.has_dropout() &&
           !is_deterministic;
}

class Chooser {
   public:
    Chooser(Call const& call, Sizes const& sizes, calls::Lease const& lease)
        : call_(call), sizes_(sizes), target_(lease.target), choice_(lease), rounding_(rounding_of(call)) {}

    fe::Result<Chosen> choose() const {
        if (rounding_ == Rounding::Little) return choose_exact();
        bool const has_class = becomes_packed(call_, rounding_);
        if (may_use_other_plans(call_)) {
            Shapes const exact = shapes_with(Rounding::Little);
            auto ready = choice_.find_ready(exact, {.has_class = has_class, .has_kind = has_kind(call_, exact)});
            if (ready) return *std::move(ready);
        }
        if (!has_class || call_.has_dropout()) return choice_.find_or_plan(shapes_with(rounding_));
        auto made = choice_.find_class(shapes_with(rounding_));
        bool const is_refused = made.is_bad() && calls::is_refusal(made.error());
        return is_refused ? choice_.find_or_plan(shapes_with(Rounding::Little)) : made;
    }

   private:
    fe::Result<Chosen> choose_exact() const {
        Shapes const shapes = shapes_with(rounding_);
        bool const is_for_all_shapes = shapes.policy == Shape_policy::ALL_SHAPES && may_resize(call_);
        return is_for_all_shapes ? choice_.resize_or_plan(shapes) : choice_.find_or_plan(shapes);
    }
    Shapes shapes_with(Rounding rounding) const { return shapes_of(call_, sizes_, rounding, target_); }

    Call const& call_;
    Sizes const& sizes_;
    fe::Target const& target_;
    calls::PlanChoice<Shapes> choice_;
    Rounding rounding_;
};

}  // namespace

fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    return Chooser(call, sizes, lease).choose();
}

}  // namespace sdpa_graph::flash
