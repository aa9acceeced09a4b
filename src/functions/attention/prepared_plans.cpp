#include "functions/attention/prepared_plans.h"

#include "calls/background.h"

#include <cudnn_frontend/process.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace sdpa_graph::attention {
namespace {

// How often no engine made a plan of the shapes.
struct Refusals {
    explicit Refusals(Shapes const& of_shapes) : shapes(of_shapes) {}

    Shapes shapes;
    mutable std::atomic<int> count = 0;
};

struct RefusalsKept {
    using Key = Shapes;
    using Object = Refusals const;
    static constexpr char const* kName = "refused shapes";
    static Key const& key_of(Object const& refusals) { return refusals.shapes; }
    static bool is_same(Key const& a, Key const& b) { return a == b; }
    static std::size_t bytes_of(Object const&) { return sizeof(Refusals) + 128; }
};
using RefusedShapes = fe::core::process::KeptObjects<RefusalsKept>;

int refusals_of(Shapes const& shapes) {
    auto const fits = [&](Shapes const& refused) { return refused == shapes; };
    auto const found = RefusedShapes::of_process().find(hash_of(shapes), fits);
    return found != nullptr ? found->count.load(std::memory_order_relaxed) : 0;
}

constexpr int kExamplesOfKind = 8;

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

// Plans of described devices are made by the calls that need them, and where nothing is kept a plan would be lost.
bool can_prepare(Shapes const& shapes) {
    return shapes.target == fe::Target::Kind::CUDA && fe::runtime::kept_bytes() > 0;
}

void enqueue(Shapes const& kind, Shapes const& example) {
    if (!can_prepare(kind) || !Requested::of_process().add(kind)) return;
    bool const is_waiting = calls::enqueue_background(kind.device, [kind, example](fe::Target const& target) {
        auto const made = CallPlan::find(kind, example, target);
        if (made.is_bad() && is_refusal(made.error())) note_refused(kind);
        Requested::of_process().remove(kind);
    });
    if (!is_waiting) Requested::of_process().remove(kind);
}

}  // namespace

bool is_refusal(error_t const& failure) {
    using enum fe::error_code_t;
    return failure.code == GRAPH_NOT_SUPPORTED || failure.code == HEURISTIC_QUERY_FAILED ||
           failure.code == GRAPH_EXECUTION_PLAN_CREATION_FAILED;
}

bool is_refused(Shapes const& shapes) { return refusals_of(shapes) > 0; }

void note_refused(Shapes const& shapes) {
    auto const make = [&] { return fe::Result(std::make_shared<Refusals const>(shapes)); };
    auto const found = RefusedShapes::of_process().find_or_make(hash_of(shapes), shapes, make);
    if (found.is_good()) ++found.value().object->count;
}

void prepare(Shapes const& shapes) {
    if (!is_refused(shapes)) enqueue(shapes, shapes);
}

void prepare_kind(Shapes const& kind, Shapes const& example) {
    if (refusals_of(kind) < kExamplesOfKind) enqueue(kind, example);
}

}  // namespace sdpa_graph::attention
