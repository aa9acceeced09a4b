// The programs of a graph among its candidates.
#pragma once

#include "plan/planner.h"
#include "rewrite/offers.h"

namespace cudnn_frontend::plan {

class ProgramEngine;

// A graph with nothing left of what planning it refers to.
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

   private:
    // Under a limit of workspace: the engine that needs the least for the same program, where that is another.
    std::shared_ptr<Engine> least_of(ProgramEngine const& engine) const;

    std::shared_ptr<KeptInput const> input_;
    Backends const& backends_;
    std::vector<rewrite::Program> programs_;
};

// Puts programs before and after the proposals for the graph as it is, of which there is at least one. Returns remarks.
std::vector<std::string> add_programs(PlanningInput const& input, Backends const& backends,
                                      Planner::Proposals& proposals);

// Proposes a graph that no backend takes as given with its lengths and its Stats converted. Returns an error where
// there is nothing to convert, or no backend takes the program.
Result<Planner::Proposed> propose_converted(PlanningInput const& input, Backends const& backends);

// Whether a stored plan is of a program, and its engine.
bool is_program(Stored const& stored);
Result<Loaded> load_program(PlanningInput const& input, Backends const& backends, Stored const& stored);

}  // namespace cudnn_frontend::plan
