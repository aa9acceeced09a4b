// The seam between planning and those who can run a graph. No type of cuDNN or CUDA stands here: what only one backend
// understands passes through as an address. docs/adding-a-backend.md walks through it.
#pragma once

#include "core/result.h"
#include "nodes/schema/validate.h"
#include "plan/pack.h"
#include "plan/settings.h"
#include "plan/stopwatch.h"

#include <cudnn_frontend/target.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudnn_frontend::plan {

// What the caller's work is ordered by: a cuDNN handle on a CUDA target, null on the host.
using Queue = void*;
// Where work is put instead of being run: a CUDA graph.
using Recording = void*;

using KnobChoices = std::vector<std::pair<KnobType_t, std::int64_t>>;

// What planning starts from.
struct PlanningInput {
    nodes::ValidatedGraph const& graph;
    Target const& target;
    Settings const& settings;
};

// What is known of an engine before it is built.
struct EngineInfo {
    std::string name;
    std::optional<std::int64_t> number;  // what create_execution_plan() takes
    KnobChoices knobs;                   // NOT_SET: the library has no name for it
    std::vector<BehaviorNote_t> behavior_notes;
    std::vector<NumericalNote_t> numerical_notes;
    std::int64_t workspace_bytes = 0;  // as far as is known: what is built tells
    std::int64_t shared_memory_bytes = 0;
    bool is_deterministic = true;
};

// One run, after all that is checked of every pack.
struct Launch {
    Queue queue = nullptr;
    std::span<void* const> pointers;  // one for each slot of the proposal's layout, in their order
    void* workspace = nullptr;        // workspace_size() bytes
};

// What an engine builds. Immutable: runs may come from many threads at once.
class Executable {
   public:
    virtual ~Executable() = default;

    virtual std::int64_t workspace_size() const = 0;
    // Why it cannot run for that queue, found before the pack is looked at.
    virtual error_t check_queue(Queue) const { return {}; }
    virtual error_t launch(Launch const& launch) const = 0;
    // Puts the work into an empty recording, or other addresses into one that holds it.
    virtual error_t capture(Launch const& launch, Recording recording) const;
    virtual error_t update(Launch const& launch, Recording recording) const;
    // Loads what a first run would load; nothing is computed.
    virtual error_t warm_up(Queue) const { return {}; }
    // Measures what is launched on the queue. The host's clock unless said otherwise.
    virtual Result<std::unique_ptr<Stopwatch>> stopwatch(Queue queue) const;
    // All that Backend::load() needs beside the graph.
    virtual Result<std::string> serialize() const = 0;
};

// One way of a backend to run the graph.
class Engine {
   public:
    virtual ~Engine() = default;

    virtual EngineInfo const& info() const = 0;
    // Why it must not serve; empty where nothing is known against it.
    virtual std::string reason_against() const { return {}; }
    // From many threads at once: graphs that are the same share their engines.
    virtual Result<std::shared_ptr<Executable const>> build() = 0;
};
using Engines = std::vector<std::shared_ptr<Engine>>;

// A backend's answer to a graph: what its runs need of a pack, and its engines. Whoever has a fixed list of engines
// hands it over; what depends on heuristics, or takes engines by number, overrides. Immutable to its callers, who may
// be many threads.
class Proposal {
   public:
    Proposal(std::shared_ptr<PackLayout const> layout, Engines engines)
        : layout_(std::move(layout)), engines_(std::move(engines)) {}
    virtual ~Proposal() = default;

    PackLayout const& layout() const { return *layout_; }

    // The best first. Of the modes, which are at least one, OPENSOURCE asks for what is not cuDNN's.
    virtual Result<Engines> engines(std::vector<HeurMode_t> const&) const { return engines_; }

    // Engines by number, which are those below the count; others are an error.
    virtual Result<std::int64_t> engine_count() const { return static_cast<std::int64_t>(engines_.size()); }
    virtual Result<std::vector<Knob>> knobs_of_engine(std::int64_t number) const;
    virtual Result<std::shared_ptr<Engine>> engine(std::int64_t number, KnobChoices const& knobs) const;

    // No engine gave a plan: what was kept of the graph may be at fault.
    virtual void forget() const {}

   private:
    error_t check_number(std::int64_t number) const;

    std::shared_ptr<PackLayout const> layout_;
    Engines engines_;
};

// A plan that was stored.
struct Loaded {
    std::shared_ptr<Proposal const> proposal;
    std::shared_ptr<Engine> engine;
};

class Backend {
   public:
    virtual ~Backend() = default;

    virtual char const* name() const = 0;
    virtual bool serves(Target const& target) const = 0;
    // An error says why the backend cannot run the graph.
    virtual Result<std::shared_ptr<Proposal const>> propose(PlanningInput const& input) const = 0;
    // All that a proposal depends on beside the graph: it serves a graph that is built again where this is equal.
    // Nothing where a proposal is good for one graph alone.
    virtual std::optional<std::string> circumstances(Target const&, Settings const&) const { return std::nullopt; }
    // Of what the backend itself keeps for graphs that are built again, lets go of all but what was used last.
    virtual void keep_at_most(std::size_t) const {}
    // From what an executable of the same graph serialized.
    virtual Result<Loaded> load(PlanningInput const& input, std::string_view stored) const;
};

using Backends = std::vector<Backend const*>;

}  // namespace cudnn_frontend::plan
