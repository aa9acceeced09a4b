// The choice of the plan for a call: exact, resized, or that of a class.
#pragma once

#include "calls/class_plan.h"
#include "calls/prepared_plans.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/resized_plan.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace sdpa_graph::calls {

// Counts a call with this hash. Returns how many came before it, at most kOften; a call with another hash may have
// reset the count.
std::uint64_t count_call(std::size_t hash);
inline constexpr std::uint64_t kOften = 16;

// The plan of a call, with the shapes for which it was made.
template <class Shapes>
struct ChosenPlan {
    Shapes shapes;
    std::shared_ptr<ClassPlan<Shapes> const> plan;
    cudnn_frontend::graph::Resized_plan resized = {};  // the plan for these shapes, where `plan` is one for all shapes

    std::int64_t workspace_bytes() const {
        return resized.is_made() ? resized.get_workspace_size() : plan->workspace_bytes();
    }
    cudnn_frontend::error_t run(Lease const& lease, Pack const& pack, void* workspace) const {
        return resized.is_made() ? plan->run(resized, lease, pack, workspace) : plan->run(lease, pack, workspace);
    }
};

// Plans that were resized for shapes which came before. They are not resized again, and their launches are replayed
// once there were enough of them.
template <class Shapes>
class KeptResizedPlans {
   public:
    using Resized_plan = cudnn_frontend::graph::Resized_plan;

    // The plan of these shapes' kind, resized for them, or one that was kept.
    static cudnn_frontend::Result<Resized_plan> find_or_resize(ClassPlan<Shapes> const& plan, Shapes const& shapes) {
        auto const make = [&]() -> cudnn_frontend::Result<std::shared_ptr<ResizedForShapes const>> {
            auto made = resized(plan.graph(), shapes);
            if (made.is_bad()) return made.error();
            return std::make_shared<ResizedForShapes const>(ResizedForShapes{shapes, std::move(made).value()});
        };
        auto const found = Kept::of_process().find_or_make(hash_of(shapes), shapes, make);
        if (found.is_bad()) return found.error();
        return found.value().object->plan;
    }

   private:
    struct ResizedForShapes {
        Shapes shapes;
        Resized_plan plan;
    };
    struct ResizedKind {
        using Key = Shapes;
        using Object = ResizedForShapes const;
        static constexpr char const* kName = "resized plans";
        static Key const& key_of(Object const& resized_plan) { return resized_plan.shapes; }
        static bool is_same(Key const& a, Key const& b) { return a == b; }
        static std::size_t bytes_of(Object const&) {
            constexpr std::size_t kOfKernels = 12 << 10;  // and of the layout of packs
            return sizeof(ResizedForShapes) + kOfKernels;
        }
    };
    using Kept = cudnn_frontend::core::process::KeptObjects<ResizedKind>;
};

// Finds or makes plans for a call. In addition to what ClassPlan needs, the namespace of Shapes has two functions:
// kind_of(shapes), the shapes without the sizes for which a plan can be resized, and resized(graph, shapes), the plan
// of a graph of that kind for these shapes.
template <class Shapes>
class PlanChoice {
   public:
    using Plan = ClassPlan<Shapes>;
    using Chosen = ChosenPlan<Shapes>;

    explicit PlanChoice(Lease const& lease) : target_(lease.target), is_recorded_(lease.is_recorded) {}

    // With the policy ALL_SHAPES: the resized plan of the kind or, if that fails, the plan of these shapes. The error
    // of the kind is not reported, since it may be about the shapes of another call.
    cudnn_frontend::Result<Chosen> resize_or_plan(Shapes const& shapes) const {
        Chosen chosen{shapes, nullptr};
        std::uint64_t const seen = count_call(hash_of(shapes));
        cudnn_frontend::error_t failure = Plan::find(kind_of(shapes), shapes, target_).move_to(chosen.plan);
        if (failure.is_good()) failure = resize(*chosen.plan, shapes, seen).move_to(chosen.resized);
        if (failure.is_good()) return chosen;
        if (!is_refusal(failure)) return failure;
        return find_or_plan(shapes);
    }

    // The plan of the shapes, which is made if it is not there.
    cudnn_frontend::Result<Chosen> find_or_plan(Shapes const& shapes) const {
        Chosen chosen{shapes, nullptr};
        SDPA_GRAPH_TRY(Plan::find(shapes, target_).move_to(chosen.plan));
        return chosen;
    }

    // The plan of a class, which is made if it is not there. If no engine has one the process remembers that, and the
    // error is a refusal.
    cudnn_frontend::Result<Chosen> find_class(Shapes const& shapes) const {
        using cudnn_frontend::error_code_t;
        if (auto known = Plan::find_known(shapes)) {
            count_plan(PlanSource::Known);
            return Chosen{shapes, std::move(known)};
        }
        if (RefusedShapes<Shapes>::count_of(shapes) > 0)
            return cudnn_frontend::error_t{error_code_t::GRAPH_NOT_SUPPORTED,
                                           "no engine plans the class of these shapes"};
        auto made = find_or_plan(shapes);
        if (made.is_bad() && is_refusal(made.error())) RefusedShapes<Shapes>::note(shapes);
        return made;
    }

    struct Alternatives {
        bool has_class = false;  // the call may have the plan of a class
        bool has_kind = false;   // that of its kind
    };

    // With the policy AUTO, a plan that is there: the exact one if the call has no class or its shapes have come back
    // often, else that of the kind, resized. The background makes the exact one once the shapes have come back often,
    // and that of the kind once a second shape of it comes.
    std::optional<Chosen> find_ready(Shapes const& shapes, Alternatives others) const {
        std::uint64_t const seen = count_call(hash_of(shapes));
        auto found = find_exact(shapes, seen, others.has_class);
        if (!found && others.has_kind) found = find_resized(shapes, seen);
        if (found) count_plan(PlanSource::Known);
        return found;
    }

   private:
    std::optional<Chosen> find_exact(Shapes const& shapes, std::uint64_t seen, bool has_class) const {
        if (is_recorded_) return find_recorded(shapes, has_class);
        bool const is_frequent = seen >= kOften;
        if (has_class && !is_frequent) return std::nullopt;
        auto plan = Plan::find_known(shapes);
        if (plan != nullptr) return Chosen{shapes, std::move(plan)};
        if (is_frequent) prepare(shapes);
        return std::nullopt;
    }

    // A CUDA graph runs the call often, so that its exact plan is worth while. The first run of a plan loads kernels,
    // which may fail now; without a class there is no other plan.
    std::optional<Chosen> find_recorded(Shapes const& shapes, bool has_class) const {
        auto plan = Plan::find_known(shapes);
        if (plan == nullptr || (has_class && !plan->has_run())) return std::nullopt;
        return Chosen{shapes, std::move(plan)};
    }

    std::optional<Chosen> find_resized(Shapes shapes, std::uint64_t seen) const {
        if (cudnn_frontend::runtime::verifies_first_runs()) return std::nullopt;
        shapes.policy = Shape_policy::ALL_SHAPES;
        Shapes const kind = kind_of(shapes);
        bool const are_shapes_varied = count_call(hash_of(kind)) > 0 && seen == 0;
        auto plan = Plan::find_known(kind);
        if (plan == nullptr) {
            if (!is_recorded_ && are_shapes_varied) prepare_kind(kind, shapes);
            return std::nullopt;
        }
        if (is_recorded_ && !plan->has_run()) return std::nullopt;
        auto resized_plan = resize(*plan, shapes, seen);
        if (resized_plan.is_bad()) return std::nullopt;
        return Chosen{shapes, std::move(plan), std::move(resized_plan).value()};
    }

    // Shapes that are new rarely come back, so that their plans are not kept. Nothing is kept while a launch is
    // recorded: keeping one plan may evict another, which must not be destroyed then.
    cudnn_frontend::Result<cudnn_frontend::graph::Resized_plan> resize(Plan const& plan, Shapes const& shapes,
                                                                       std::uint64_t seen) const {
        return seen == 0 || is_recorded_ ? resized(plan.graph(), shapes)
                                         : KeptResizedPlans<Shapes>::find_or_resize(plan, shapes);
    }

    cudnn_frontend::Target const& target_;
    bool is_recorded_;
};

}  // namespace sdpa_graph::calls
