// Programs as a proposal for a graph.
#pragma once

#include "plan/planner.h"
#include "plan/programs/program_engine.h"

#include <memory>
#include <vector>

namespace cudnn_frontend::plan {

// An owning copy of a PlanningInput, which does not refer to the caller's objects.
struct KeptInput {
    explicit KeptInput(PlanningInput const& input)
        : graph(input.graph), target(input.target), settings(input.settings) {}
    PlanningInput input() const { return {graph, target, settings}; }

    nodes::ValidatedGraph graph;
    Target target;
    Settings settings;
};

// Its engines are programs. They have no numbers, so that those of the graph's own engines stay what they are.
class ProgramProposal final : public Proposal {
   public:
    ProgramProposal(std::shared_ptr<PackLayout const> layout, std::shared_ptr<KeptInput const> input,
                    Backends const& backends, std::vector<rewrite::Program> programs)
        : Proposal(std::move(layout), {}),
          input_(std::move(input)),
          backends_(backends),
          programs_(std::move(programs)) {}

    Result<Engines> engines(std::vector<HeurMode_t> const& modes) const override;
    std::size_t bytes() const override;

   private:
    // If slices_for_workspace is set: the engine of the same program with the smallest workspace. Null if that is
    // `engine` itself.
    std::shared_ptr<Engine> with_least_workspace(ProgramEngine const& engine) const;

    std::shared_ptr<KeptInput const> input_;
    Backends const& backends_;
    std::vector<rewrite::Program> programs_;
};

// Proposes the program in place of the graph as it is.
Planner::Proposed propose_alone(rewrite::Program program, PackLayout layout, PlanningInput const& input,
                                Backends const& backends);

// Returns why no backend makes joints here, and no error where one does.
error_t obstacle_to_joints(Target const& target, Backends const& backends);

// Proposes the rank's program in place of the graph, whose part it is; the graph alone would be another attention.
Result<Planner::Proposed> propose_in_group(PlanningInput const& input, Backends const& backends);

// The program of a stored plan, by its name: the rank's, where the graph has a group. Plans of other ranks, layouts and
// ways are an error, and with a group so are those of whole attentions.
Result<rewrite::Program> stored_program(PlanningInput const& input, std::string const& name);

}  // namespace cudnn_frontend::plan
