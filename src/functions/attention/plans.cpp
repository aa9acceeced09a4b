#include "functions/attention/plans.h"

#include "calls/background.h"

#include <array>
#include <atomic>

namespace sdpa_graph::attention {
namespace {

using CallPlan = calls::Plan<Shapes>;

// Some shapes. Safe from many threads.
class Noted {
   public:
    void add(Shapes const& shapes) {
        constexpr std::size_t kMost = 1024;
        list_.keep(hash_of(shapes), std::make_shared<Shapes const>(shapes), kMost);
    }
    void remove(Shapes const& shapes) {
        list_.forget([&](Shapes const& noted) { return noted == shapes; });
    }
    bool has(Shapes const& shapes) {
        return list_.find(hash_of(shapes), [&](Shapes const& noted) { return noted == shapes; }) != nullptr;
    }

   private:
    fe::core::LastUsed<Shapes const> list_;
};

// Never destroyed, like plans.
struct Notes {
    Noted refused;    // no engine made a plan: asking again would take as long
    Noted requested;  // a plan is being made in the background
};
Notes& notes() {
    static auto* const all = new Notes();
    return *all;
}

bool is_refusal(error_t const& failure) {
    using enum fe::error_code_t;
    return failure.code == GRAPH_NOT_SUPPORTED || failure.code == HEURISTIC_QUERY_FAILED ||
           failure.code == GRAPH_EXECUTION_PLAN_CREATION_FAILED;
}

void prepare(Shapes const& shapes) {
    if (notes().requested.has(shapes)) return;
    notes().requested.add(shapes);
    bool const is_waiting = calls::do_later(shapes.device, [shapes](fe::Target const& target) {
        auto const made = CallPlan::find(shapes, target);
        if (made.is_bad() && is_refusal(made.error())) notes().refused.add(shapes);
        notes().requested.remove(shapes);
    });
    if (!is_waiting) notes().requested.remove(shapes);
}

// Whether calls of that hash came often of late. One of another hash may make it forget.
bool comes_back(std::size_t hash) {
    constexpr std::size_t kPlaces = 256;
    constexpr std::uint64_t kOften = 16, kCount = 0xffff;
    static constinit std::array<std::atomic<std::uint64_t>, kPlaces> places{};  // a hash above its count
    std::atomic<std::uint64_t>& place = places[hash % kPlaces];
    std::uint64_t const name = hash & ~kCount, seen = place.load(std::memory_order_relaxed);
    if ((seen & ~kCount) != name) {
        place.store(name | 1, std::memory_order_relaxed);
        return false;
    }
    if ((seen & kCount) < kOften) place.store(seen + 1, std::memory_order_relaxed);
    return (seen & kCount) >= kOften;
}

class Chooser {
   public:
    Chooser(Call const& call, Sizes const& sizes, calls::Lease const& lease)
        : call_(call), sizes_(sizes), target_(lease.target), is_recorded_(lease.is_recorded), exact_(exact_form(call)) {
        bool const wants_class = calls::wants_classes(call.place, *call.at(Argument::Q));
        form_ = wants_class ? class_form(call, sizes) : exact_;
        // Both passes have to drop the same probabilities, which depends on the form.
        may_change_ = wants_class && calls::policy_of(call.place) == Shape_policy::AUTO && !call.has_dropout() &&
                      !call.options.is_deterministic;
    }

    fe::Result<Chosen> choose() const {
        Chosen own{form_, shapes_of(call_, sizes_, form_, target_), nullptr};
        if (!form_.is_class || call_.has_dropout()) return finish(std::move(own));
        own.plan = CallPlan::find_known(own.shapes);
        if (own.plan == nullptr && notes().refused.has(own.shapes)) return exact();
        if (auto other = may_change_ ? find_other(own) : std::nullopt) return finish(*std::move(other));
        Shapes const shapes = own.shapes;
        auto made = finish(std::move(own));
        if (made.is_good() || !is_refusal(made.error())) return made;
        notes().refused.add(shapes);
        return exact();
    }

   private:
    fe::Result<Chosen> finish(Chosen chosen) const {
        if (chosen.plan != nullptr) calls::count_plan(calls::PlanSource::Known);
        else SDPA_GRAPH_TRY(CallPlan::find(chosen.shapes, target_).move_to(chosen.plan));
        return chosen;
    }
    fe::Result<Chosen> exact() const { return finish({exact_, shapes_of(call_, sizes_, exact_, target_), nullptr}); }

    // Until the class has a plan, a larger one; once the shape has come back often, its exact plan, which is faster.
    std::optional<Chosen> find_other(Chosen const& own) const {
        if (is_recorded_) return own.plan != nullptr && own.plan->has_run() ? std::nullopt : find_larger();
        if (own.plan == nullptr) {
            auto larger = find_larger();
            if (larger) prepare(own.shapes);
            return larger;
        }
        if (call_.has_packed()) return std::nullopt;
        Shapes const shapes = shapes_of(call_, sizes_, exact_, target_);
        if (!comes_back(hash_of(shapes)) || notes().refused.has(shapes)) return std::nullopt;
        auto plan = CallPlan::find_known(shapes);
        if (plan == nullptr) {
            prepare(shapes);
            return std::nullopt;
        }
        return Chosen{exact_, shapes, std::move(plan)};
    }

    // A class whose plan is there and has room for the call. One that is recorded has run before.
    std::optional<Chosen> find_larger() const {
        constexpr std::int64_t kMostGrowth = 8;
        for (std::int64_t growth = 2; growth <= kMostGrowth; growth *= 2) {
            Form form = form_;
            form.growth = growth;
            Chosen larger{form, shapes_of(call_, sizes_, form, target_), nullptr};
            larger.plan = CallPlan::find_known(larger.shapes);
            if (larger.plan != nullptr && (larger.plan->has_run() || !is_recorded_)) return larger;
        }
        return std::nullopt;
    }

    Call const& call_;
    Sizes const& sizes_;
    fe::Target const& target_;
    bool is_recorded_;
    Form exact_, form_;
    bool may_change_ = false;
};

}  // namespace

fe::Result<Chosen> choose_plan(Call const& call, Sizes const& sizes, calls::Lease const& lease) {
    return Chooser(call, sizes, lease).choose();
}

}  // namespace sdpa_graph::attention
