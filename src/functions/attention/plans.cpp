#include "attention/shape_classes.h"
#include "functions/attention/runs.h"

namespace sdpa_graph::attention {
namespace {

using CallPlan = calls::ClassPlan<Shapes>;

class Chooser {
   public:
    Chooser(Call const& call, Sizes const& sizes, calls::Lease const& lease)
        : call_(call),
          sizes_(sizes),
          target_(lease.target),
          is_recorded_(lease.is_recorded),
          choice_(lease),
          exact_(exact_form(call)) {
        exact_.policy = calls::policy_of_graph(call.place);
        bool const wants_class = calls::wants_classes(call.place, *call.at(Argument::Q));
        form_ = wants_class ? class_form(call, sizes) : exact_;
        // Both passes have to drop the same probabilities, which depends on the form.
        bool const is_deterministic = call.options.is_deterministic || call.place.is_deterministic;
        may_change_ = wants_class && calls::policy_of(call.place) == Shape_policy::AUTO && !call.has_dropout() &&
                      !is_deterministic;
    }

    fe::Result<Chosen> choose() const {
        bool const has_kind = exact_.policy == Shape_policy::ALL_SHAPES && call_.is_on_gpu() && !call_.has_packed();
        return has_kind ? with_form(exact_, choice_.resize_or_plan(shapes_with(exact_))) : choose_by_form();
    }

   private:
    fe::Result<Chosen> choose_by_form() const {
        if (auto own = may_change_ ? find_for_shapes() : std::nullopt) return *std::move(own);
        Shapes const shapes = shapes_with(form_);
        if (!form_.is_class || call_.has_dropout()) return with_form(form_, choice_.find_or_plan(shapes));
        if (auto known = find_class_or_larger(shapes)) return *std::move(known);
        auto made = choice_.find_class(shapes);
        bool const is_refused = made.is_bad() && calls::is_refusal(made.error());
        return is_refused ? with_form(exact_, choice_.find_or_plan(shapes_with(exact_)))
                          : with_form(form_, std::move(made));
    }

    static fe::Result<Chosen> with_form(Form const& form, fe::Result<calls::ChosenPlan<Shapes>> chosen) {
        if (chosen.is_bad()) return chosen.error();
        return Chosen{std::move(chosen).value(), form};
    }

    // Packed sequences are in slots whatever the form. With few queries the keys of a class are divided among
    // multiprocessors, which is faster than a resized plan.
    std::optional<Chosen> find_for_shapes() const {
        if (call_.has_packed()) return std::nullopt;
        bool const has_few_queries = sizes_.queries <= fe::attention::kFewQueries;
        auto ready =
            choice_.find_ready(shapes_with(exact_), {.has_class = form_.is_class, .has_kind = !has_few_queries});
        if (!ready) return std::nullopt;
        return Chosen{*std::move(ready), exact_};
    }

    // The class's plan or, until it is there, that of a larger class; for a launch that is recorded, one that has run.
    std::optional<Chosen> find_class_or_larger(Shapes const& shapes) const {
        Chosen own{{shapes, CallPlan::find_known(shapes)}, form_};
        bool const is_ready = own.plan != nullptr && (own.plan->has_run() || !is_recorded_ || !may_change_);
        auto found = is_ready ? std::optional(std::move(own)) : find_larger_instead_of(shapes);
        if (found) calls::count_plan(calls::PlanSource::Known);
        return found;
    }

    std::optional<Chosen> find_larger_instead_of(Shapes const& shapes) const {
        if (!may_change_ || calls::RefusedShapes<Shapes>::count_of(shapes) > 0) return std::nullopt;
        auto larger = find_larger();
        if (larger && !is_recorded_) calls::prepare(shapes);
        return larger;
    }

    // A class whose plan is there and has room for the call. One that is recorded has run before.
    std::optional<Chosen> find_larger() const {
        constexpr std::int64_t kMostGrowth = 8;
        for (std::int64_t growth = 2; growth <= kMostGrowth; growth *= 2) {
            Form form = form_;
            form.growth = growth;
            Chosen larger{{shapes_with(form), nullptr}, form};
            larger.plan = CallPlan::find_known(larger.shapes);
            if (larger.plan != nullptr && (larger.plan->has_run() || !is_recorded_)) return larger;
        }
        return std::nullopt;
    }

    Shapes shapes_with(Form const& form) const { return shapes_of(call_, sizes_, form, target_); }

    Call const& call_;
    Sizes const& sizes_;
    fe::Target const& target_;
    bool is_recorded_;
    calls::PlanChoice<Shapes> choice_;
    Form exact_, form_;
    bool may_change_ = false;
};

}  // namespace

fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    return Chooser(call, sizes, lease).choose();
}

}  // namespace sdpa_graph::attention
