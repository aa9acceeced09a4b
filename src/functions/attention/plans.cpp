#include "attention/shape_classes.h"
#include "functions/attention/prepared_plans.h"
#include "functions/attention/runs.h"

#include <cudnn_frontend/process.h>

#include <array>
#include <atomic>

namespace sdpa_graph::attention {
namespace {

// How many calls of that hash there were of late, up to kOften. One of another hash may make it forget.
constexpr std::uint64_t kOften = 16;
std::uint64_t times_seen(std::size_t hash) {
    constexpr std::size_t kPlaces = 256;
    constexpr std::uint64_t kCount = 0xffff;
    static constinit std::array<std::atomic<std::uint64_t>, kPlaces> places{};  // a hash above its count
    std::atomic<std::uint64_t>& place = places[hash % kPlaces];
    std::uint64_t const name = hash & ~kCount, seen = place.load(std::memory_order_relaxed);
    if ((seen & ~kCount) != name) {
        place.store(name | 1, std::memory_order_relaxed);
        return 0;
    }
    if ((seen & kCount) < kOften) place.store(seen + 1, std::memory_order_relaxed);
    return seen & kCount;
}

// A plan that was resized for shapes which came before. It is not resized again, and its launches are replayed once
// there were enough of them.
struct ResizedForShapes {
    Shapes shapes;
    fe::graph::Resized_plan plan;
};

struct ResizedKept {
    using Key = Shapes;
    using Object = ResizedForShapes const;
    static constexpr char const* kName = "resized plans";
    static Key const& key_of(Object const& resized) { return resized.shapes; }
    static bool is_same(Key const& a, Key const& b) { return a == b; }
    static std::size_t bytes_of(Object const&) {
        constexpr std::size_t kOfKernels = 12 << 10;  // and of the layout of packs
        return sizeof(ResizedForShapes) + kOfKernels;
    }
};
using ResizedPlans = fe::core::process::KeptObjects<ResizedKept>;

// The plan of these shapes' kind, resized for them, or one that was kept.
fe::Result<fe::graph::Resized_plan> resized_or_kept(CallPlan const& plan, Shapes const& shapes) {
    auto const make = [&]() -> fe::Result<std::shared_ptr<ResizedForShapes const>> {
        auto made = resized(plan.graph(), shapes);
        if (made.is_bad()) return made.error();
        return std::make_shared<ResizedForShapes const>(ResizedForShapes{shapes, std::move(made).value()});
    };
    auto const found = ResizedPlans::of_process().find_or_make(hash_of(shapes), shapes, make);
    if (found.is_bad()) return found.error();
    return found.value().object->plan;
}

class Chooser {
   public:
    Chooser(Call const& call, Sizes const& sizes, calls::Lease const& lease)
        : call_(call), sizes_(sizes), target_(lease.target), is_recorded_(lease.is_recorded), exact_(exact_form(call)) {
        exact_.policy = calls::policy_of_graph(call.place);
        bool const wants_class = calls::wants_classes(call.place, *call.at(Argument::Q));
        form_ = wants_class ? class_form(call, sizes) : exact_;
        // Both passes have to drop the same probabilities, which depends on the form.
        may_change_ = wants_class && calls::policy_of(call.place) == Shape_policy::AUTO && !call.has_dropout() &&
                      !call.options.is_deterministic;
    }

    fe::Result<Chosen> choose() const {
        bool const has_kind = exact_.policy == Shape_policy::ALL_SHAPES && call_.is_on_gpu() && !call_.has_packed();
        return has_kind ? choose_for_all_shapes() : choose_by_form();
    }

   private:
    // The plan of the call's kind, or that of its shapes where the first one does not serve them. The error of a kind
    // may be that of another call's shapes.
    fe::Result<Chosen> choose_for_all_shapes() const {
        Chosen own{exact_, shapes_of(call_, sizes_, exact_, target_), nullptr};
        std::uint64_t const seen = times_seen(hash_of(own.shapes));
        error_t failure = CallPlan::find(kind_of(own.shapes), own.shapes, target_).move_to(own.plan);
        if (failure.is_good()) failure = resize(*own.plan, own.shapes, seen).move_to(own.resized);
        if (failure.is_good()) return own;
        return is_refusal(failure) ? exact() : failure;
    }

    // Shapes that are new are mostly not seen again. Nothing is kept while a launch is recorded, since what has to go
    // for it might not be destroyed then.
    fe::Result<fe::graph::Resized_plan> resize(CallPlan const& plan, Shapes const& shapes, std::uint64_t seen) const {
        return seen == 0 || is_recorded_ ? resized(plan.graph(), shapes) : resized_or_kept(plan, shapes);
    }

    fe::Result<Chosen> choose_by_form() const {
        if (auto own = may_change_ ? find_for_shapes() : std::nullopt) return finish(*std::move(own));
        Chosen own{form_, shapes_of(call_, sizes_, form_, target_), nullptr};
        if (!form_.is_class || call_.has_dropout()) return finish(std::move(own));
        own.plan = CallPlan::find_known(own.shapes);
        if (own.plan == nullptr && is_refused(own.shapes)) return exact();
        if (auto other = may_change_ ? find_other_class(own) : std::nullopt) return finish(*std::move(other));
        Shapes const shapes = own.shapes;
        auto made = finish(std::move(own));
        if (made.is_good() || !is_refusal(made.error())) return made;
        note_refused(shapes);
        return exact();
    }

    fe::Result<Chosen> finish(Chosen chosen) const {
        if (chosen.plan != nullptr) calls::count_plan(calls::PlanSource::Known);
        else SDPA_GRAPH_TRY(CallPlan::find(chosen.shapes, target_).move_to(chosen.plan));
        return chosen;
    }
    fe::Result<Chosen> exact() const { return finish({exact_, shapes_of(call_, sizes_, exact_, target_), nullptr}); }

    // The exact plan if the call has no class or its shape has come back often, else one that is resized. Packed
    // sequences are in slots whatever the form.
    std::optional<Chosen> find_for_shapes() const {
        if (call_.has_packed()) return std::nullopt;
        Shapes const shapes = shapes_of(call_, sizes_, exact_, target_);
        std::uint64_t const seen = times_seen(hash_of(shapes));
        if (auto exact = find_exact(shapes, seen)) return exact;
        return find_resized(shapes, seen);
    }

    // A larger class until the class has a plan, or one that has run.
    std::optional<Chosen> find_other_class(Chosen const& own) const {
        if (is_recorded_) return own.plan != nullptr && own.plan->has_run() ? std::nullopt : find_larger();
        if (own.plan != nullptr) return std::nullopt;
        auto larger = find_larger();
        if (larger) prepare(own.shapes);
        return larger;
    }

    std::optional<Chosen> find_exact(Shapes const& shapes, std::uint64_t seen) const {
        bool const is_frequent = seen >= kOften && !is_recorded_;
        if (form_.is_class && !is_frequent) return std::nullopt;
        auto plan = CallPlan::find_known(shapes);
        if (plan != nullptr) return Chosen{exact_, shapes, std::move(plan)};
        if (is_frequent) prepare(shapes);
        return std::nullopt;
    }

    // The plan of the call's kind for these shapes. With few queries the keys of a class are divided among
    // multiprocessors, which is faster.
    std::optional<Chosen> find_resized(Shapes shapes, std::uint64_t seen) const {
        if (sizes_.queries <= fe::attention::kFewQueries || fe::runtime::verifies_first_runs()) return std::nullopt;
        shapes.policy = Shape_policy::ALL_SHAPES;
        Shapes const kind = kind_of(shapes);
        bool const are_shapes_varied = times_seen(hash_of(kind)) > 0 && seen == 0;
        auto plan = CallPlan::find_known(kind);
        if (plan == nullptr) {
            if (!is_recorded_ && are_shapes_varied) prepare_kind(kind, shapes);
            return std::nullopt;
        }
        if (is_recorded_ && !plan->has_run()) return std::nullopt;
        auto resized_plan = resize(*plan, shapes, seen);
        if (resized_plan.is_bad()) return std::nullopt;
        return Chosen{exact_, shapes, std::move(plan), std::move(resized_plan).value()};
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
