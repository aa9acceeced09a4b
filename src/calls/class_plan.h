// Graphs for classes of calls, built once and kept. Where a call's policy wants it, its class is one of shapes.
#pragma once

#include "calls/lease.h"
#include "core/process/kept_objects.h"
#include "core/process/plan_store.h"
#include "core/result.h"
#include "core/short_list.h"

#include <cudnn_frontend/resized_plan.h>
#include <sdpa_graph/place.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

namespace sdpa_graph::calls {

Shape_policy policy_of(Place const& place);
bool wants_classes(Place const& place, Tensor_view const& tensor);
// The policy for the graph of a call, which describes a class already where the call wants one.
Shape_policy policy_of_graph(Place const& place);

// Where the plan of a call came from.
enum class PlanSource { Known, Loaded, Built };
void count_plan(PlanSource source);

// Whether the error says that no engine makes a plan, so that other shapes or another form may have one.
bool is_refusal(cudnn_frontend::error_t const& failure);

// Binds tensors of a plan, by uid, to memory.
class Pack {
   public:
    // Packed backward with dropout, ALiBi and a second plan binds about 25 tensors.
    static constexpr std::size_t kMostEntries = 32;
    using Entries = cudnn_frontend::core::ShortList<std::pair<std::int64_t, void*>, kMostEntries>;

    // In place of the memory to which the tensor was bound before, if it was.
    template <class Uid>
    void bind(Uid uid, void* memory) {
        auto const number = static_cast<std::int64_t>(uid);
        for (std::size_t i = 0; i < entries_.size(); ++i) {
            if (entries_[i].first != number) continue;
            entries_[i].second = memory;
            return;
        }
        entries_.push_back({number, memory});
    }
    Entries const& entries() const { return entries_; }

   private:
    Entries entries_;
};

// Shapes are a class of calls: comparable, and with three functions in their namespace: hash_of(shapes),
// describe(shapes, graph), and policy_of(shapes) for the graph. A plan runs with every handle of its GPU.
template <class Shapes>
class ClassPlan : public std::enable_shared_from_this<ClassPlan<Shapes>> {
   public:
    // The plan of the class: a known one, or a new one.
    static cudnn_frontend::Result<std::shared_ptr<ClassPlan const>> find(Shapes const& shapes,
                                                                         cudnn_frontend::Target const& target) {
        return find(shapes, shapes, target);
    }
    // The same for a kind of shapes, whose graph is that of an example.
    static cudnn_frontend::Result<std::shared_ptr<ClassPlan const>> find(Shapes const& kind, Shapes const& example,
                                                                         cudnn_frontend::Target const& target) {
        auto const make = [&]() -> cudnn_frontend::Result<std::shared_ptr<ClassPlan const>> {
            std::shared_ptr<ClassPlan> plan(new ClassPlan(kind));
            SDPA_GRAPH_TRY(plan->make(example, target));
            return std::shared_ptr<ClassPlan const>(std::move(plan));
        };
        auto found = Known::of_process().find_or_make(hash_of(kind), kind, make);
        if (found.is_bad()) return found.error();
        if (found.value().is_known) count_plan(PlanSource::Known);
        return std::move(found.value().object);
    }

    // The plan of the class if it is there.
    static std::shared_ptr<ClassPlan const> find_known(Shapes const& shapes) {
        return Known::of_process().find(hash_of(shapes), [&](Shapes const& known) { return known == shapes; });
    }

    // The first run loads kernels, which may fail while a CUDA graph is recorded.
    bool has_run() const { return has_run_.load(std::memory_order_acquire); }
    std::int64_t workspace_bytes() const { return graph_.get_workspace_size(); }
    cudnn_frontend::graph::Graph const& graph() const { return graph_; }

    cudnn_frontend::error_t run(Lease const& lease, Pack const& pack, void* workspace) const {
        return run(graph_, lease, pack, workspace);
    }
    // Runs the graph, or a plan that was resized from it. A CUDA graph that records the run refers to the plan, which
    // therefore stays as long as the process.
    template <class Runnable>
    cudnn_frontend::error_t run(Runnable const& runnable, Lease const& lease, Pack const& pack, void* workspace) const {
        if (lease.is_recorded) stay();
        cudnn_frontend::error_t failure = runnable.execute(lease.target.handle(), pack.entries(), workspace);
        if (failure.is_good()) has_run_.store(true, std::memory_order_release);
        return failure;
    }

   private:
    struct PlanKind {
        using Key = Shapes;
        using Object = ClassPlan const;
        static constexpr char const* kName = "plans of functions";
        static Key const& key_of(Object const& plan) { return plan.shapes_; }
        static bool is_same(Key const& a, Key const& b) { return a == b; }
        // The description of the graph, its candidates and their plans. What they share with other graphs is counted
        // where it is kept.
        static std::size_t bytes_of(Object const& plan) {
            constexpr std::size_t kOfDescription = 8 << 10, kOfCandidate = 1 << 10;
            auto const candidates = static_cast<std::size_t>(plan.graph_.get_execution_plan_count());
            return sizeof(ClassPlan) + kOfDescription + candidates * kOfCandidate;
        }
    };
    using Known = cudnn_frontend::core::process::KeptObjects<PlanKind>;

    // Code that the graph needs may be in the plan store.
    cudnn_frontend::error_t make(Shapes const& described, cudnn_frontend::Target const& target) {
        describe(described, graph_);
        graph_.set_shape_policy(policy_of(described));
        auto const& counts = cudnn_frontend::core::process::engine_counts_of_thread();
        auto const before = counts;
        // The plan is built by the stages: build() would search changes of the graph after a refusal, which are of no
        // use to a function's caller.
        using cudnn_frontend::HeurMode_t;
        cudnn_frontend::error_t failure = graph_.build_operation_graph(target);
        if (failure.is_good()) failure = graph_.create_execution_plans({HeurMode_t::A, HeurMode_t::FALLBACK});
        if (failure.is_good()) failure = graph_.build_plans();
        if (failure.is_bad()) return failure;
        bool const is_loaded = counts.loaded > before.loaded && counts.compiled == before.compiled;
        count_plan(is_loaded ? PlanSource::Loaded : PlanSource::Built);
        return {};
    }

    explicit ClassPlan(Shapes const& shapes) : shapes_(shapes) {}

    void stay() const {
        static std::mutex adding;
        static auto* const recorded = new std::set<std::shared_ptr<ClassPlan const>>();
        std::lock_guard const lock(adding);
        recorded->insert(this->shared_from_this());
    }

    Shapes shapes_;
    cudnn_frontend::graph::Graph graph_;
    mutable std::atomic<bool> has_run_ = false;
};

}  // namespace sdpa_graph::calls
