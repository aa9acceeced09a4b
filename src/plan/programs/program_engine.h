// A program as an engine: its attentions are planned like any graph, and what joins them comes from a backend too.
#pragma once

#include "plan/planner.h"
#include "plan/programs/program_executable.h"
#include "rewrite/program.h"

namespace cudnn_frontend::plan {

class ProgramEngine final : public Engine {
   public:
    static constexpr char const* kPrefix = "program ";  // of names

    // Proposes the program's attentions to the backends. `whole` is what the graph as given was planned for.
    static Result<std::shared_ptr<ProgramEngine>> propose(rewrite::Program program, PlanningInput const& whole,
                                                          PackLayout const& layout, Backends const& backends,
                                                          std::vector<HeurMode_t> const& modes);
    // The same program, each attention by the engine that needs the least workspace; null where that is this engine.
    std::shared_ptr<Engine> with_least_workspace() const;
    // Loads them from what ProgramExecutable::serialize() wrote.
    static Result<std::shared_ptr<Engine>> load(rewrite::Program program, PlanningInput const& whole,
                                                PackLayout const& layout, Backends const& backends,
                                                StoredProgram stored);

    EngineInfo const& info() const override { return info_; }
    std::shared_ptr<Engine> with_parts_within(Filters const& filters) const override;
    // Attentions whose first engine does not build get the next one.
    std::shared_ptr<EngineInfo const> info_of(Executable const& executable) const override;
    Result<std::shared_ptr<Executable const>> build() override;

   private:
    using Planners = std::vector<std::shared_ptr<Planner>>;

    ProgramEngine(rewrite::Program program, PlanningInput const& whole, PackLayout const& layout,
                  Backends const& backends, Planners planners, std::optional<StoredProgram> stored);
    ProgramEngine(ProgramEngine const& other, Planners planners);

    // The engine of each attention that is expected to be built.
    std::vector<EngineInfo> first_engines() const;
    // The engine of the program whose attentions run on these engines, one for each graph.
    EngineInfo describe(std::vector<EngineInfo> const& attends) const;
    std::int64_t workspace_of(std::vector<EngineInfo> const& attends) const;
    // The graphs that steps attend to, in the order in which the steps first name them.
    static std::vector<std::shared_ptr<nodes::ValidatedGraph const>> graphs_of(rewrite::Program const& program);

    class Assembly;

    std::shared_ptr<rewrite::Program const> program_;
    nodes::GraphSpec const graph_;
    Target target_;
    Settings settings_;
    std::shared_ptr<group::Transport> transport_;  // null without a group
    PackLayout layout_;
    Backends const& backends_;
    Planners planners_;  // one for each of graphs_of()
    std::optional<StoredProgram> stored_;
    EngineInfo info_;
};

}  // namespace cudnn_frontend::plan
