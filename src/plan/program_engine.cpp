#include "plan/program_engine.h"

#include "plan/program_executable.h"

#include <algorithm>

namespace cudnn_frontend::plan {
namespace {

using rewrite::Attend;
using rewrite::Joint;

constexpr std::int64_t kAlignment = 256;

std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

template <class Item>
void add_missing(std::vector<Item>& all, std::vector<Item> const& more) {
    for (Item const item : more) {
        if (std::ranges::find(all, item) == all.end()) all.push_back(item);
    }
}

// The attentions of a program are not rewritten again.
Settings settings_of_parts(Settings settings) {
    settings.rewrites = {.policy = RewritePolicy_t::OFF};
    settings.filters = {};
    return settings;
}

error_t no_joint(error_t const& refusals, Target const& target) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, std::string("no backend of the target ") + to_string(target.kind()) +
                                                   " joins partial results" +
                                                   (refusals.is_bad() ? ": " + refusals.err_msg : "")};
}

Result<std::shared_ptr<Executable const>> join(Joint const& joint, Target const& target, Settings const& settings,
                                               Backends const& backends) {
    error_t refusal;
    for (Backend const* const backend : backends) {
        if (!backend->joins(target)) continue;
        auto joined = backend->join(joint, target, settings);
        if (joined.is_good()) return joined;
        refusal = joined.error();
    }
    return no_joint(refusal, target);
}

std::size_t slot_of(PackLayout const& layout, std::int64_t uid) {
    return static_cast<std::size_t>(std::ranges::find(layout.slots, uid, &Slot::uid) - layout.slots.begin());
}

}  // namespace

// Puts a program's executables and addresses together.
class ProgramEngine::Assembly {
   public:
    explicit Assembly(ProgramEngine const& engine) : engine_(engine) {
        for (std::int64_t const bytes : engine.program_.scratch) {
            scratch_at_.push_back(own_workspaces_at_);
            own_workspaces_at_ += aligned(bytes);
        }
    }

    error_t add_attends() {
        for (std::shared_ptr<Planner> const& planner : engine_.planners_) {
            SDPA_GRAPH_TRY(planner->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}));
            attends_.push_back({planner->plan()->info().name, planner->plan()->executable()});
        }
        return {};
    }

    error_t add(rewrite::Step const& step) {
        if (auto const* attend = std::get_if<Attend>(&step)) return add_attend(*attend);
        return add_joint(std::get<Joint>(step));
    }

    std::shared_ptr<Executable const> take() {
        return std::make_shared<ProgramExecutable>(engine_.program_.name, std::move(attends_), std::move(steps_),
                                                   own_workspaces_at_ + most_workspace_);
    }

   private:
    error_t add_attend(Attend const& attend) {
        auto const graphs = graphs_of(engine_.program_);
        auto const index = static_cast<std::size_t>(std::ranges::find(graphs, attend.graph.get()) - graphs.begin());
        Plan const& plan = *engine_.planners_[index]->plan();
        std::vector<PointerSource> sources;
        for (Slot const& slot : plan.slots()) {
            auto const binding = std::ranges::find(attend.bindings, slot.uid, &Attend::Binding::uid);
            if (binding == attend.bindings.end()) {
                return {error_code_t::INVALID_VALUE, "the program has no place for tensor '" + slot.name + "'"};
            }
            sources.push_back(source_of(binding->place));
        }
        return add("attention", plan.executable(), std::move(sources));
    }

    error_t add_joint(Joint const& joint) {
        auto joined = join(joint, engine_.target_, engine_.settings_, engine_.backends_);
        if (joined.is_bad()) return joined.error();
        std::vector<PointerSource> sources;
        for (rewrite::Place const& place : rewrite::places_of(joint)) sources.push_back(source_of(place));
        bool const is_sum = std::holds_alternative<rewrite::Sum>(joint);
        return add(is_sum ? "sum" : "merge", std::move(joined).value(), std::move(sources));
    }

    error_t add(char const* name, std::shared_ptr<Executable const> executable, std::vector<PointerSource> sources) {
        most_workspace_ = std::max(most_workspace_, executable->workspace_size());
        steps_.push_back({name, std::move(executable), std::move(sources), own_workspaces_at_});
        return {};
    }

    PointerSource source_of(rewrite::Place const& place) const {
        if (place.of == rewrite::Place::Of::Scratch) return {true, 0, scratch_at_[place.index] + place.offset};
        return {false, slot_of(engine_.layout_, engine_.graph_.tensors[place.index].uid.value()), place.offset};
    }

    ProgramEngine const& engine_;
    std::vector<std::int64_t> scratch_at_;
    std::int64_t own_workspaces_at_ = 0, most_workspace_ = 0;  // steps use theirs one after the other
    std::vector<PlannedAttend> attends_;
    std::vector<ProgramStep> steps_;
};

ProgramEngine::ProgramEngine(rewrite::Program program, PlanningInput const& whole, PackLayout const& layout,
                             Backends const& backends, Planners planners)
    : program_(std::move(program)),
      graph_(whole.graph.spec()),
      target_(whole.target),
      settings_(settings_of_parts(whole.settings)),
      layout_(layout),
      backends_(backends),
      planners_(std::move(planners)) {
    describe();
}

std::vector<nodes::ValidatedGraph const*> ProgramEngine::graphs_of(rewrite::Program const& program) {
    std::vector<nodes::ValidatedGraph const*> graphs;
    for (rewrite::Step const& step : program.steps) {
        auto const* attend = std::get_if<Attend>(&step);
        if (attend == nullptr || std::ranges::find(graphs, attend->graph.get()) != graphs.end()) continue;
        graphs.push_back(attend->graph.get());
    }
    return graphs;
}

Result<std::shared_ptr<Engine>> ProgramEngine::propose(rewrite::Program program, PlanningInput const& whole,
                                                       PackLayout const& layout, Backends const& backends,
                                                       std::vector<HeurMode_t> const& modes) {
    Planners planners;
    Settings const settings = settings_of_parts(whole.settings);
    for (nodes::ValidatedGraph const* const graph : graphs_of(program)) {
        auto proposed = Planner::propose({*graph, whole.target, settings}, backends);
        if (proposed.is_bad()) return proposed.error();
        auto planner = proposed.value()->with_candidates(modes);
        if (planner.is_bad()) return planner.error();
        SDPA_GRAPH_TRY(planner.value()->check_support({}));
        planners.push_back(std::move(planner).value());
    }
    return std::shared_ptr<Engine>(new ProgramEngine(std::move(program), whole, layout, backends, std::move(planners)));
}

Result<std::shared_ptr<Engine>> ProgramEngine::load(rewrite::Program program, PlanningInput const& whole,
                                                    PackLayout const& layout, Backends const& backends,
                                                    std::vector<Stored> const& attends) {
    Planners planners;
    Settings const settings = settings_of_parts(whole.settings);
    auto const graphs = graphs_of(program);
    if (graphs.size() != attends.size()) {
        return error_t(error_code_t::UNSUPPORTED_GRAPH_FORMAT,
                       "the stored program has " + std::to_string(attends.size()) + " plans; " + program.name +
                           " needs " + std::to_string(graphs.size()) + ": build it again");
    }
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        auto planner = Planner::load({*graphs[i], whole.target, settings}, backends, attends[i]);
        if (planner.is_bad()) return planner.error();
        planners.push_back(std::move(planner).value());
    }
    return std::shared_ptr<Engine>(new ProgramEngine(std::move(program), whole, layout, backends, std::move(planners)));
}

// What is known before anything is built follows from the first candidate of each attention.
void ProgramEngine::describe() {
    info_.name = kPrefix + program_.name + ":";
    info_.program = std::make_shared<rewrite::Program const>(program_);
    std::int64_t most_workspace = 0;
    for (std::shared_ptr<Planner> const& planner : planners_) {
        auto const candidate = planner->candidate(0);
        if (candidate.is_bad()) continue;
        EngineInfo const& part = candidate.value();
        info_.name += " " + part.name;
        most_workspace = std::max(most_workspace, part.workspace_bytes);
        info_.shared_memory_bytes = std::max(info_.shared_memory_bytes, part.shared_memory_bytes);
        info_.is_deterministic = info_.is_deterministic && part.is_deterministic;
        add_missing(info_.behavior_notes, part.behavior_notes);
        add_missing(info_.numerical_notes, part.numerical_notes);
    }
    for (std::int64_t const bytes : program_.scratch) info_.workspace_bytes += aligned(bytes);
    info_.workspace_bytes += most_workspace;
}

Result<std::shared_ptr<Executable const>> ProgramEngine::build() {
    Assembly assembly(*this);
    SDPA_GRAPH_TRY(assembly.add_attends());
    for (rewrite::Step const& step : program_.steps) SDPA_GRAPH_TRY(assembly.add(step));
    return assembly.take();
}

}  // namespace cudnn_frontend::plan
