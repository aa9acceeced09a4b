#include "functions/attention/runs.h"

#include "calls/background.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <vector>

namespace sdpa_graph::attention {
namespace {

using CallPlan = calls::ClassPlan<Shapes>;

// Shapes of which no engine made a plan: asking again would take as long.
struct RefusedKind {
    using Key = Shapes;
    using Object = Shapes const;
    static constexpr char const* kName = "refused shapes";
    static Key const& key_of(Object const& shapes) { return shapes; }
    static bool is_same(Key const& a, Key const& b) { return a == b; }
    static std::size_t bytes_of(Object const&) { return sizeof(Shapes) + 128; }
};
using RefusedShapes = fe::core::process::KeptObjects<RefusedKind>;

bool is_refused(Shapes const& shapes) {
    auto const fits = [&](Shapes const& refused) { return refused == shapes; };
    return RefusedShapes::of_process().find(hash_of(shapes), fits) != nullptr;
}

void note_refused(Shapes const& shapes) {
    auto const make = [&] { return fe::Result(std::make_shared<Shapes const>(shapes)); };
    static_cast<void>(RefusedShapes::of_process().find_or_make(hash_of(shapes), shapes, make));
}

// Shapes whose plans are being made in the background; there are few at a time. Safe from many threads.
class Requested {
   public:
    // They are never destroyed, like plans.
    static Requested& of_process() {
        static auto* const all = new Requested();
        return *all;
    }
    // False if it was there.
    bool add(Shapes const& shapes) {
        std::lock_guard const lock(mutex_);
        if (std::ranges::find(all_, shapes) != all_.end()) return false;
        all_.push_back(shapes);
        return true;
    }
    void remove(Shapes const& shapes) {
        std::lock_guard const lock(mutex_);
        std::erase(all_, shapes);
    }

   private:
    std::mutex mutex_;
    std::vector<Shapes> all_;
};

bool is_refusal(error_t const& failure) {
    using enum fe::error_code_t;
    return failure.code == GRAPH_NOT_SUPPORTED || failure.code == HEURISTIC_QUERY_FAILED ||
           failure.code == GRAPH_EXECUTION_PLAN_CREATION_FAILED;
}

void prepare(Shapes const& shapes) {
    if (!Requested::of_process().add(shapes)) return;
    bool const is_waiting = calls::enqueue_background(shapes.device, [shapes](fe::Target const& target) {
        auto const made = CallPlan::find(shapes, target);
        if (made.is_bad() && is_refusal(made.error())) note_refused(shapes);
        Requested::of_process().remove(shapes);
    });
    if (!is_waiting) Requested::of_process().remove(shapes);
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
    // The plan of the call's kind, or that of its shapes where the first one does not serve them.
    fe::Result<Chosen> choose_for_all_shapes() const {
        Chosen own{exact_, shapes_of(call_, sizes_, exact_, target_), nullptr};
        SDPA_GRAPH_TRY(CallPlan::find(kind_of(own.shapes), own.shapes, target_).move_to(own.plan));
        error_t const failure = resized(own.plan->graph(), own.shapes).move_to(own.resized);
        if (failure.is_good()) return own;
        return is_refusal(failure) ? exact() : failure;
    }

    fe::Result<Chosen> choose_by_form() const {
        Chosen own{form_, shapes_of(call_, sizes_, form_, target_), nullptr};
        if (!form_.is_class || call_.has_dropout()) return finish(std::move(own));
        own.plan = CallPlan::find_known(own.shapes);
        if (own.plan == nullptr && is_refused(own.shapes)) return exact();
        if (auto other = may_change_ ? find_other(own) : std::nullopt) return finish(*std::move(other));
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

    // Another plan than the shape's own: a larger one until the class has a plan, and the exact plan, which is faster,
    // once the shape has come back often.
    std::optional<Chosen> find_other(Chosen const& own) const {
        if (is_recorded_) return own.plan != nullptr && own.plan->has_run() ? std::nullopt : find_larger();
        if (own.plan == nullptr) {
            auto larger = find_larger();
            if (larger) prepare(own.shapes);
            return larger;
        }
        if (call_.has_packed()) return std::nullopt;
        Shapes const shapes = shapes_of(call_, sizes_, exact_, target_);
        if (!comes_back(hash_of(shapes)) || is_refused(shapes)) return std::nullopt;
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
