// The backend of Target::cuda() and Target::offline(): cuDNN, for a device that is there or for the description of one.
#pragma once

#include "plan/backend.h"
#include "plan/contents.h"

namespace cudnn_frontend::cudnn {

class Backend final : public plan::Backend {
   public:
    // The check is for runs that look at indices first (SDPA_GRAPH_CHECK_INDICES).
    explicit Backend(plan::CheckIndices check_indices) : check_indices_(check_indices) {}

    char const* name() const override { return "cuDNN"; }
    bool serves(Target const& target) const override;
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override;
    std::optional<std::string> circumstances(Target const& target, plan::Settings const& settings) const override;
    void keep_at_most(std::size_t most) const override;
    Result<plan::Loaded> load(plan::PlanningInput const& input, plan::Stored const& stored) const override;

   private:
    plan::CheckIndices check_indices_;
};

}  // namespace cudnn_frontend::cudnn
