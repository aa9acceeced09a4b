// Plans that a background thread makes for calls to come, and shapes for which no engine has a plan.
#pragma once

#include "calls/background.h"
#include "calls/class_plan.h"

#include <cudnn_frontend/process.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace sdpa_graph::calls {

// How often no engine had a plan for shapes.
template <class Shapes>
class RefusedShapes {
   public:
    static int count_of(Shapes const& shapes) {
        auto const fits = [&](Shapes const& refused) { return refused == shapes; };
        auto const found = Kept::of_process().find(hash_of(shapes), fits);
        return found != nullptr ? found->count.load(std::memory_order_relaxed) : 0;
    }
    static void note(Shapes const& shapes) {
        auto const make = [&] { return cudnn_frontend::Result(std::make_shared<Refusals const>(shapes)); };
        auto const found = Kept::of_process().find_or_make(hash_of(shapes), shapes, make);
        if (found.is_good()) ++found.value().object->count;
    }

   private:
    struct Refusals {
        explicit Refusals(Shapes const& of_shapes) : shapes(of_shapes) {}

        Shapes shapes;
        mutable std::atomic<int> count = 0;
    };
    struct RefusalsKind {
        using Key = Shapes;
        using Object = Refusals const;
        static constexpr char const* kName = "refused shapes";
        static Key const& key_of(Object const& refusals) { return refusals.shapes; }
        static bool is_same(Key const& a, Key const& b) { return a == b; }
        static std::size_t bytes_of(Object const&) { return sizeof(Refusals) + 128; }
    };
    using Kept = cudnn_frontend::core::process::KeptObjects<RefusalsKind>;
};

// Shapes whose plans are being made in the background; there are few at a time. Safe from many threads.
template <class Shapes>
class RequestedShapes {
   public:
    // It is never destroyed: background threads may still use it when the process ends.
    static RequestedShapes& of_process() {
        static auto* const all = new RequestedShapes();
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

// Lets the background plan a kind; the graph has the shapes of one call of that kind, the example. Does nothing for
// described devices, whose plans are made by the calls that need them, and if the process keeps no plans.
template <class Shapes>
void enqueue_plan(Shapes const& kind, Shapes const& example) {
    using cudnn_frontend::Target;
    auto& requested = RequestedShapes<Shapes>::of_process();
    bool const is_useful = kind.target == Target::Kind::CUDA && cudnn_frontend::runtime::kept_bytes() > 0;
    if (!is_useful || !requested.add(kind)) return;
    bool const is_enqueued = enqueue_background(kind.device, [kind, example](Target const& target) {
        auto const made = ClassPlan<Shapes>::find(kind, example, target);
        if (made.is_bad() && is_refusal(made.error())) RefusedShapes<Shapes>::note(kind);
        RequestedShapes<Shapes>::of_process().remove(kind);
    });
    if (!is_enqueued) requested.remove(kind);
}

// Plans the shapes in the background, unless they are refused.
template <class Shapes>
void prepare(Shapes const& shapes) {
    if (RefusedShapes<Shapes>::count_of(shapes) == 0) enqueue_plan(shapes, shapes);
}

// Plans a kind in the background, unless it is refused. One example may be refused for its strides or sizes, so that
// the kind is refused once several of them are.
template <class Shapes>
void prepare_kind(Shapes const& kind, Shapes const& example) {
    constexpr int kMostRefusals = 8;
    if (RefusedShapes<Shapes>::count_of(kind) < kMostRefusals) enqueue_plan(kind, example);
}

}  // namespace sdpa_graph::calls
