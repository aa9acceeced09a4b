#include "plan/programs/program_engine.h"

#include "plan/known_plans.h"
#include "plan/programs/program_executable.h"

#include <algorithm>
#include <numeric>

namespace cudnn_frontend::plan {
namespace {

using rewrite::Attend;
using rewrite::Joint;
using PartPointer = std::shared_ptr<nodes::ValidatedGraph const>;

template <class Item>
void add_missing(std::vector<Item>& all, std::vector<Item> const& more) {
    for (Item const item : more) {
        if (std::ranges::find(all, item) == all.end()) all.push_back(item);
    }
}

error_t no_joint(error_t const& refusals, Target const& target) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, std::string("no backend of the target ") + to_string(target.kind()) +
                                                   " joins partial results" +
                                                   (refusals.is_bad() ? ": " + refusals.err_msg : "")};
}

Result<std::shared_ptr<Executable const>> join(Joint const& joint, Target const& target, Settings const& settings,
                                               Backends const& backends, std::optional<std::string_view> stored) {
    error_t refusal;
    for (Backend const* const backend : backends) {
        if (!backend->joins(target)) continue;
        auto joined = backend->join(joint, target, settings, stored);
        if (joined.is_good()) return joined;
        refusal = joined.error();
    }
    return no_joint(refusal, target);
}

// The notes of the backend that is asked first.
std::vector<BehaviorNote_t> notes_of_joints(Backends const& backends, Target const& target) {
    auto const joins = [&](Backend const* backend) { return backend->joins(target); };
    auto const first = std::ranges::find_if(backends, joins);
    return first == backends.end() ? std::vector<BehaviorNote_t>() : (*first)->notes_of_joints();
}

// The name of a step in messages.
std::string name_of(rewrite::Step const& step) {
    if (auto const* joint = std::get_if<Joint>(&step)) return rewrite::name_of(*joint);
    if (auto const* start = std::get_if<rewrite::Exchange>(&step)) return "exchange of " + start->pieces->content;
    if (auto const* end = std::get_if<rewrite::Await>(&step)) return "end of the exchange of " + end->pieces->content;
    return "attention";
}

// Returns where runs have the pointer to a tensor of the graph as given. They have none to a virtual tensor.
Result<std::size_t> slot_of(PackLayout const& layout, nodes::TensorSpec const& tensor) {
    if (auto const slot = tensor.uid ? layout.slot_of(*tensor.uid) : std::nullopt) return *slot;
    return error_t(error_code_t::INVALID_VALUE,
                   "the program uses tensor '" + tensor.name +
                       "' of the graph, to which runs have no pointer; call set_output(true) on it if it is a result, "
                       "or leave out the rewrite");
}

// The steps' own workspaces, behind the scratch. Those of a lane are one, since its steps run one after the other.
class LaneWorkspaces {
   public:
    void add(rewrite::Lane lane, std::int64_t bytes) { most_[index(lane)] = std::max(most_[index(lane)], bytes); }

    std::int64_t start_of(rewrite::Lane lane) const { return lane == rewrite::Lane::Main ? 0 : side_at(); }
    std::int64_t total() const { return most_[1] > 0 ? side_at() + most_[1] : most_[0]; }

   private:
    static std::size_t index(rewrite::Lane lane) { return lane == rewrite::Lane::Main ? 0 : 1; }
    std::int64_t side_at() const {
        constexpr std::int64_t kAlignment = 256;
        return (most_[0] + kAlignment - 1) / kAlignment * kAlignment;
    }

    std::int64_t most_[2] = {0, 0};  // of the main lane, and of the side lane
};

}  // namespace

// Puts a program's executables and addresses together.
class ProgramEngine::Assembly {
   public:
    explicit Assembly(ProgramEngine const& engine) : engine_(engine), graphs_(graphs_of(*engine.program_)) {
        for (std::int64_t const bytes : engine.program_->scratch) {
            scratch_at_.push_back(own_workspaces_at_);
            own_workspaces_at_ += bytes;
        }
    }

    error_t add(rewrite::Step const& step) {
        error_t failure = std::visit([this](auto const& kind) { return add_kind(kind); }, step);
        if (failure.is_good()) return {};
        rewrite::Program const& program = *engine_.program_;
        failure.err_msg = step_text(program.name, steps_.size(), program.steps.size(), name_of(step)) +
                          ", cannot be built: " + failure.err_msg;
        return failure;
    }

    std::shared_ptr<Executable const> take() {
        for (ProgramStep& step : steps_) step.workspace_at = own_workspaces_at_ + workspaces_.start_of(step.lane);
        return std::make_shared<ProgramExecutable>(engine_.program_->name, std::move(attends_), std::move(steps_),
                                                   own_workspaces_at_ + workspaces_.total(),
                                                   GroupRun{engine_.transport_, engine_.program_->agreement});
    }

   private:
    // Steps that attend alike share a plan, which the first of them builds.
    error_t add_kind(Attend const& attend) {
        auto const graph = std::ranges::find(graphs_, attend.graph);
        auto const index = static_cast<std::size_t>(graph - graphs_.begin());
        Planner& planner = *engine_.planners_[index];
        if (index == attends_.size()) {
            error_t const failure = planner.build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {});
            if (failure.is_bad()) forget_plans(*attend.graph);
            SDPA_GRAPH_TRY(failure);
            attends_.push_back({planner.plan()->info(), planner.plan()->executable()});
        }
        auto executable = attends_[index].executable->twin();
        if (!executable) executable = attends_[index].executable;
        std::vector<rewrite::Place> places;
        for (Slot const& slot : planner.plan()->slots()) {
            auto const binding = std::ranges::find(attend.bindings, slot.uid, &Attend::TensorBinding::uid);
            if (binding == attend.bindings.end()) {
                return {error_code_t::INVALID_VALUE, "the program has no place for tensor '" + slot.name + "'"};
            }
            places.push_back(binding->place);
        }
        return add({.name = name_of(attend), .executable = std::move(executable), .lane = attend.lane}, places);
    }

    error_t add_kind(Joint const& joint) {
        std::optional<std::string_view> code;
        if (engine_.stored_) code = engine_.stored_->codes[engine_.stored_->joints[joints_]];
        ++joints_;
        auto joined = join(joint, engine_.target_, engine_.settings_, engine_.backends_, code);
        if (joined.is_bad()) return joined.error();
        return add({.name = name_of(joint), .executable = std::move(joined).value(), .is_joint = true},
                   rewrite::places_of(joint));
    }

    error_t add_kind(rewrite::Exchange const& start) {
        return add_exchange(*start.pieces, make_exchange_start(engine_.transport_, start.pieces), name_of(start));
    }
    error_t add_kind(rewrite::Await const& end) {
        return add_exchange(*end.pieces, make_exchange_end(engine_.transport_, end.pieces), name_of(end));
    }
    error_t add_exchange(rewrite::Pieces const& pieces, std::shared_ptr<Executable const> executable,
                         std::string name) {
        return add({.name = std::move(name), .executable = std::move(executable), .is_exchange = true},
                   places_of(pieces));
    }

    // The places are those of the executable's pointers, in their order.
    error_t add(ProgramStep step, std::vector<rewrite::Place> const& places) {
        for (rewrite::Place const& place : places) {
            auto source = source_of(place);
            if (source.is_bad()) return source.error();
            step.sources.push_back(source.value());
        }
        workspaces_.add(step.lane, step.executable->workspace_size());
        steps_.push_back(std::move(step));
        return {};
    }

    Result<PointerSource> source_of(rewrite::Place const& place) const {
        if (place.of == rewrite::Place::Of::Scratch) {
            return PointerSource{true, 0, scratch_at_[place.index] + place.offset};
        }
        auto const slot = slot_of(engine_.layout_, engine_.graph_.tensors[place.index]);
        if (slot.is_bad()) return slot.error();
        return PointerSource{false, slot.value(), place.offset};
    }

    ProgramEngine const& engine_;
    std::vector<PartPointer> graphs_;
    std::vector<std::int64_t> scratch_at_;
    std::int64_t own_workspaces_at_ = 0;
    LaneWorkspaces workspaces_;
    std::vector<PlannedAttend> attends_;
    std::vector<ProgramStep> steps_;
    std::size_t joints_ = 0;
};

ProgramEngine::ProgramEngine(rewrite::Program program, PlanningInput const& whole, PackLayout const& layout,
                             Backends const& backends, Planners planners, std::optional<StoredProgram> stored)
    : program_(std::make_shared<rewrite::Program const>(std::move(program))),
      graph_(whole.graph.spec()),
      target_(whole.target),
      settings_(settings_of_parts(whole.settings)),
      transport_(whole.settings.group == nullptr ? nullptr : whole.settings.group->transport),
      layout_(layout),
      backends_(backends),
      planners_(std::move(planners)),
      stored_(std::move(stored)),
      info_(describe(first_engines())) {}

ProgramEngine::ProgramEngine(ProgramEngine const& other, Planners planners)
    : program_(other.program_),
      graph_(other.graph_),
      target_(other.target_),
      settings_(other.settings_),
      transport_(other.transport_),
      layout_(other.layout_),
      backends_(other.backends_),
      planners_(std::move(planners)),
      info_(describe(first_engines())) {}

std::vector<PartPointer> ProgramEngine::graphs_of(rewrite::Program const& program) {
    std::vector<PartPointer> graphs;
    for (rewrite::Step const& step : program.steps) {
        auto const* attend = std::get_if<Attend>(&step);
        if (attend == nullptr || std::ranges::find(graphs, attend->graph) != graphs.end()) continue;
        graphs.push_back(attend->graph);
    }
    return graphs;
}

Result<std::shared_ptr<ProgramEngine>> ProgramEngine::propose(rewrite::Program program, PlanningInput const& whole,
                                                              PackLayout const& layout, Backends const& backends,
                                                              std::vector<HeurMode_t> const& modes) {
    Planners planners;
    Settings const settings = settings_of_parts(whole.settings);
    for (PartPointer const& graph : graphs_of(program)) {
        auto planner = plan_part(graph, whole.target, settings, backends, modes);
        if (planner.is_bad()) return planner.error();
        SDPA_GRAPH_TRY(planner.value()->check_support({}));
        planners.push_back(std::move(planner).value());
    }
    return std::shared_ptr<ProgramEngine>(
        new ProgramEngine(std::move(program), whole, layout, backends, std::move(planners), {}));
}

std::shared_ptr<Engine> ProgramEngine::with_least_workspace() const {
    Planners planners;
    for (std::shared_ptr<Planner> const& planner : planners_) planners.push_back(planner->by_workspace());
    std::shared_ptr<ProgramEngine> least(new ProgramEngine(*this, std::move(planners)));
    return least->info().workspace_bytes < info().workspace_bytes ? least : nullptr;
}

std::shared_ptr<Engine> ProgramEngine::with_parts_within(Filters const& filters) const {
    Planners planners;
    for (std::shared_ptr<Planner> const& planner : planners_) {
        planners.push_back(planner->only_within(filters_of_parts(filters)));
        if (planners.back()->candidate_count() == 0) return nullptr;
    }
    return std::shared_ptr<Engine>(new ProgramEngine(*this, std::move(planners)));
}

// An error where the stored parts are not as many as the program has.
static error_t check_counts(rewrite::Program const& program, std::size_t attends, StoredProgram const& stored) {
    auto const joints = std::ranges::count_if(
        program.steps, [](rewrite::Step const& step) { return std::holds_alternative<Joint>(step); });
    if (stored.attends.size() == attends && stored.joints.size() == static_cast<std::size_t>(joints)) return {};
    auto const text = [](std::size_t plans, std::size_t codes) {
        return std::to_string(plans) + " plans and the code of " + std::to_string(codes) + " joints";
    };
    return {error_code_t::UNSUPPORTED_GRAPH_FORMAT,
            "the stored program has " + text(stored.attends.size(), stored.joints.size()) + "; " + program.name +
                " needs " + text(attends, static_cast<std::size_t>(joints)) + ": build it again"};
}

Result<std::shared_ptr<Engine>> ProgramEngine::load(rewrite::Program program, PlanningInput const& whole,
                                                    PackLayout const& layout, Backends const& backends,
                                                    StoredProgram stored) {
    Planners planners;
    Settings const settings = settings_of_parts(whole.settings);
    auto const graphs = graphs_of(program);
    SDPA_GRAPH_TRY(check_counts(program, graphs.size(), stored));
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        auto planner = Planner::load({*graphs[i], whole.target, settings}, backends, stored.attends[i]);
        if (planner.is_bad()) return planner.error();
        planners.push_back(std::move(planner).value());
    }
    return std::shared_ptr<Engine>(
        new ProgramEngine(std::move(program), whole, layout, backends, std::move(planners), std::move(stored)));
}

std::vector<EngineInfo> ProgramEngine::first_engines() const {
    std::vector<EngineInfo> engines;
    for (std::shared_ptr<Planner> const& planner : planners_) {
        auto const first = planner->first_to_pass({});
        engines.push_back(first.is_good() ? planner->candidate(first.value()).value() : EngineInfo());
    }
    return engines;
}

std::shared_ptr<EngineInfo const> ProgramEngine::info_of(Executable const& executable) const {
    std::vector<EngineInfo> engines;
    for (PlannedAttend const& attend : static_cast<ProgramExecutable const&>(executable).attends()) {
        engines.push_back(attend.engine);
    }
    return std::make_shared<EngineInfo const>(describe(engines));
}

// The program has the notes of all its attentions, but a promise only if every one of them makes it. NONDETERMINISTIC
// is added here: engines lack it where their graph is the reason that bits may differ between runs.
EngineInfo ProgramEngine::describe(std::vector<EngineInfo> const& attends) const {
    constexpr auto kPromise = BehaviorNote_t::SUPPORTS_CUDA_GRAPH_NATIVE_API;
    EngineInfo whole{.name = kPrefix + program_->name + ":"};
    whole.program = program_;
    bool is_promised = true;
    for (EngineInfo const& attend : attends) {
        whole.name += " " + attend.name;
        whole.shared_memory_bytes = std::max(whole.shared_memory_bytes, attend.shared_memory_bytes);
        whole.is_deterministic = whole.is_deterministic && attend.is_deterministic;
        is_promised = is_promised && std::ranges::find(attend.behavior_notes, kPromise) != attend.behavior_notes.end();
        add_missing(whole.behavior_notes, attend.behavior_notes);
        add_missing(whole.numerical_notes, attend.numerical_notes);
    }
    if (!whole.is_deterministic) add_missing(whole.numerical_notes, {NumericalNote_t::NONDETERMINISTIC});
    if (!is_promised) std::erase(whole.behavior_notes, kPromise);
    if (rewrite::has_joints(*program_)) add_missing(whole.behavior_notes, notes_of_joints(backends_, target_));
    whole.workspace_bytes = workspace_of(attends);
    return whole;
}

std::int64_t ProgramEngine::workspace_of(std::vector<EngineInfo> const& attends) const {
    auto const graphs = graphs_of(*program_);
    LaneWorkspaces own;
    for (rewrite::Step const& step : program_->steps) {
        auto const* attend = std::get_if<Attend>(&step);
        if (attend == nullptr) continue;
        auto const index = std::ranges::find(graphs, attend->graph) - graphs.begin();
        own.add(attend->lane, attends[static_cast<std::size_t>(index)].workspace_bytes);
    }
    return std::accumulate(program_->scratch.begin(), program_->scratch.end(), own.total());
}

Result<std::shared_ptr<Executable const>> ProgramEngine::build() {
    Assembly assembly(*this);
    for (rewrite::Step const& step : program_->steps) SDPA_GRAPH_TRY(assembly.add(step));
    return assembly.take();
}

}  // namespace cudnn_frontend::plan
