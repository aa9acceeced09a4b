// The interface between planning and the backends. No type of cuDNN or CUDA occurs here: objects that only one backend
// understands are passed as opaque pointers. docs/adding-a-backend.md walks through it.
#pragma once

#include "core/result.h"
#include "nodes/validation/validate.h"
#include "plan/packs/pack.h"
#include "plan/seam/settings.h"
#include "rewrite/costs.h"

#include <cudnn_frontend/report.h>
#include <cudnn_frontend/target.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudnn_frontend::plan {

// Orders the caller's work: a cuDNN handle on a CUDA target, null on the host.
using Queue = void*;
// Records work in place of running it: a CUDA graph.
using Recording = void*;
// The stream to which a queue's work goes, for callers that add work that the queue itself does not accept: a CUDA
// stream.
using Stream = void*;

using KnobChoices = std::vector<std::pair<KnobType_t, std::int64_t>>;

// The input of planning.
struct PlanningInput {
    nodes::ValidatedGraph const& graph;
    Target const& target;
    Settings const& settings;
};

// The facts about an engine that are known before it is built.
struct EngineInfo {
    std::string name;
    std::optional<std::int64_t> number;  // the number by which Proposal::engine() makes it, if it is not its place
    KnobChoices knobs;                   // NOT_SET: a knob without a name in this library
    std::vector<BehaviorNote_t> behavior_notes;
    std::vector<NumericalNote_t> numerical_notes;
    std::int64_t workspace_bytes = 0;  // an estimate; the executable has the exact size
    std::int64_t shared_memory_bytes = 0;
    bool is_deterministic = true;
    std::shared_ptr<rewrite::Program const> program = {};  // the program that it runs; null: the graph as given
};

// One run, after the checks that every pack goes through.
struct Launch {
    Queue queue = nullptr;
    std::span<void* const> pointers;  // one for each slot of the proposal's layout, in order
    void* workspace = nullptr;        // workspace_size() bytes
    Stream stream = nullptr;          // the queue's, in programs
    bool may_replay = true;
};

// A recording of several executables' work, each in a recording of its own, in the order of their lanes. The first one
// is of the main lane.
class RecordedSteps {
   public:
    using Record = std::function<error_t(Recording step)>;

    virtual ~RecordedSteps() = default;

    // Has a step recorded into an empty recording, and puts that behind the steps that it waits for.
    virtual error_t add(Record const& record, rewrite::Lane lane) = 0;
    // Goes on to the next step that was added, and hands out its recording.
    virtual error_t update(Record const& record, rewrite::Lane lane) = 0;
};

// Repeats the launches of one executable as they would be recorded, which takes the calling thread less time.
class Replays {
   public:
    // Records a launch into an empty recording.
    using Record = std::function<error_t(Launch const& launch, Recording recording)>;

    virtual ~Replays() = default;

    // Whether it launched; if not, the executable has to.
    virtual bool launch(Launch const& launch, Record const& record) = 0;
};

// Measures the time from start to stop.
class Stopwatch {
   public:
    virtual ~Stopwatch() = default;

    virtual error_t start() = 0;
    virtual Result<double> stop() = 0;  // microseconds
};

// The facts about a stored executable that can be read without loading it.
struct ExecutableFacts {
    std::string device = {};           // that it was built for; empty for a host
    std::int64_t library_version = 0;  // of the library whose kernels run; 0 for this one's own
    std::vector<std::string> kernels = {};

    friend bool operator==(ExecutableFacts const&, ExecutableFacts const&) = default;
};

// The result of building an engine. Immutable: many threads may run it at once.
class Executable {
   public:
    virtual ~Executable() = default;

    virtual std::int64_t workspace_size() const = 0;
    // An error if it cannot run on that queue, found before the pack is checked.
    virtual error_t check_queue(Queue) const { return {}; }
    // Also prepares the thread for work that it adds there.
    virtual Result<Stream> stream(Queue) const { return Stream(nullptr); }
    virtual error_t launch(Launch const& launch) const = 0;
    // Adds the work to an empty recording, or updates the addresses in one that has it.
    virtual error_t capture(Launch const& launch, Recording recording) const;
    virtual error_t update(Launch const& launch, Recording recording) const;
    // How a program that starts with this executable is recorded: into an empty recording, or in one that has it.
    virtual Result<std::unique_ptr<RecordedSteps>> steps_of(Recording recording) const;
    // Records the work that `run` puts on the queue's stream into an empty recording.
    virtual error_t record_run(Queue queue, Recording recording, std::function<error_t()> const& run) const;
    // Replays of the launches of a program that starts with this executable; null where they cannot be replayed. Many
    // threads may launch at once.
    virtual std::unique_ptr<Replays> replays() const { return nullptr; }
    // Loads everything that the first run would load; computes nothing.
    virtual error_t warm_up(Queue) const { return {}; }
    // The same work for another step of a program, with its own data that is kept from run to run; null where there is
    // none.
    virtual std::shared_ptr<Executable const> twin() const { return nullptr; }
    // Times work on the queue; by the host's clock unless overridden.
    virtual Result<std::unique_ptr<Stopwatch>> stopwatch(Queue queue) const;
    // The same work for tensors of other shapes, each with the rank that its tensor has; the others keep the graph's.
    // An error where the engine has no code for them, or they are not those of a graph.
    virtual Result<std::shared_ptr<Executable const>> resized(TensorShapes) const;
    // Everything that Backend::load() needs besides the graph.
    virtual Result<std::string> serialize() const = 0;
    // Facts that are stored with it for people.
    virtual Result<ExecutableFacts> facts() const { return ExecutableFacts(); }
};

// One way in which a backend can run the graph.
class Engine {
   public:
    virtual ~Engine() = default;

    virtual EngineInfo const& info() const = 0;
    // The same once it is built, where only that decides it.
    virtual std::shared_ptr<EngineInfo const> info_of(Executable const&) const { return nullptr; }
    // The reason why it must not be used; empty if there is none.
    virtual std::string reason_against() const { return {}; }
    // The same program with other engines for its attentions, which the filters let pass; null where there is none.
    virtual std::shared_ptr<Engine> with_parts_within(Filters const&) const { return nullptr; }
    // May be called from many threads at once: graphs that are the same share their engines.
    virtual Result<std::shared_ptr<Executable const>> build() = 0;
    // An estimate of its memory, without what the backend itself counts as a kept object.
    virtual std::size_t bytes() const { return 1024; }
};
using Engines = std::vector<std::shared_ptr<Engine>>;

// A backend's answer to a graph: the requirements of its runs on a pack, and its engines. A backend with a fixed list
// of engines passes it; one that depends on heuristics, or accepts engines by number, overrides. Immutable to its
// callers, who may be many threads.
class Proposal {
   public:
    Proposal(std::shared_ptr<PackLayout const> layout, Engines engines, std::string advantage = {})
        : layout_(std::move(layout)), engines_(std::move(engines)), advantage_(std::move(advantage)) {}
    virtual ~Proposal() = default;

    PackLayout const& layout() const { return *layout_; }
    // Why its engines are faster for the graph than those of other backends; empty if they are not known to be.
    std::string const& advantage() const { return advantage_; }

    // Best first, for at least one mode. OPENSOURCE stands for engines that are not cuDNN's.
    virtual Result<Engines> engines(std::vector<HeurMode_t> const&) const { return engines_; }

    // Engines by number, from 0 up to the count. The planner refuses other numbers.
    virtual Result<std::int64_t> engine_count() const { return static_cast<std::int64_t>(engines_.size()); }
    virtual Result<std::vector<Knob>> knobs_of_engine(std::int64_t number) const;
    virtual Result<std::shared_ptr<Engine>> engine(std::int64_t number, KnobChoices const& knobs) const;

    // The number of one of its engines, where it has one.
    std::optional<std::int64_t> number_of(EngineInfo const& info) const;

    // Called when no engine could be built: drops the data cached for the graph, which may be the cause.
    virtual void forget() const {}

    // An estimate of its memory, with that of its engines.
    virtual std::size_t bytes() const;

   private:
    std::shared_ptr<PackLayout const> layout_;
    Engines engines_;
    std::string advantage_;
};

// A stored plan.
struct Loaded {
    std::shared_ptr<Proposal const> proposal;
    std::shared_ptr<Engine> engine;
};

// A built plan as bytes: the name of its engine, and the result of serialize() by its executable.
struct Stored {
    std::string engine, bytes;

    friend bool operator==(Stored const&, Stored const&) = default;
};

class Backend {
   public:
    virtual ~Backend() = default;

    virtual char const* name() const = 0;
    virtual bool serves(Target const& target) const = 0;
    // Whether the backend handles graphs of this kind. Otherwise propose() is not called, so that users need not read
    // its refusal.
    virtual bool takes(nodes::ValidatedGraph const&) const { return true; }
    // An error if the backend cannot run the graph.
    virtual Result<std::shared_ptr<Proposal const>> propose(PlanningInput const& input) const = 0;
    // Proposes engines whose code serves all shapes and runs this one well, so that a class of shapes would gain
    // nothing. An error says why there are none; its code is HEURISTIC_QUERY_FAILED where other shapes would run well.
    virtual Result<std::shared_ptr<Proposal const>> propose_for_all_shapes(PlanningInput const&) const;
    // Proposes engines in which a row's bits depend on its own sequence alone. An error says why there are none.
    virtual Result<std::shared_ptr<Proposal const>> propose_batch_invariant(PlanningInput const&) const;
    // All that propose() would refuse by a table of limits.
    virtual Report limits(PlanningInput const&) const { return {}; }
    // The expected costs of its engines, and its joints, on a target; null where no figures are known.
    virtual std::unique_ptr<rewrite::Costs const> costs(Target const&, Settings const&) const { return nullptr; }
    // Whether the backend makes executables for joints on this target.
    virtual bool joins(Target const&) const { return false; }
    // The reason why no joint can be made here, though stored ones can be loaded; programs that need one are then not
    // offered.
    virtual error_t check_joints() const { return {}; }
    virtual std::vector<BehaviorNote_t> notes_of_joints() const { return {}; }
    // The executable that combines the partial results of a program: its launches get a pointer for each of
    // places_of(), and the stream. The target is one for which the backend joins. `stored` is the result of serialize()
    // by the executable for the same joint, if there is one.
    virtual Result<std::shared_ptr<Executable const>> join(rewrite::Joint const& joint, Target const& target,
                                                           Settings const& settings,
                                                           std::optional<std::string_view> stored) const;
    // Everything besides the graph that a proposal depends on. A later build of the same graph reuses the proposal if
    // this text is equal. Returns std::nullopt if proposals must not be reused.
    virtual std::optional<std::string> circumstances(Target const&, Settings const&) const { return std::nullopt; }
    // Names all that the times of its plans depend on besides the graph and the settings: a folder of the plan store.
    // Nothing where no times are kept.
    virtual std::optional<std::string> environment(Target const&, Settings const&) const { return std::nullopt; }
    // Whether plans of an engine of that name may be its own: users need not read its refusals of others.
    virtual bool may_have_engine(std::string_view) const { return true; }
    // Loads the result of Executable::serialize() for the same graph. Every backend that serves the target is asked in
    // turn: an error for a plan of another one. Unless overridden, it builds the engine of that name from the graph
    // alone.
    virtual Result<Loaded> load(PlanningInput const& input, Stored const& stored) const;
};

using Backends = std::vector<Backend const*>;

}  // namespace cudnn_frontend::plan
