// The backend of Target::cuda() and Target::offline(): cuDNN, for a device that is there or for the description of one.
#pragma once

#include "plan/packs/pack.h"
#include "plan/seam/backend.h"

#include <string>
#include <utility>

namespace cudnn_frontend::cudnn {

class CudnnBackend final : public plan::Backend {
   public:
    // The check is for runs that look at indices first (SDPA_GRAPH_CHECK_INDICES). The pass of the omitted quirk is
    // left out, so that a test sees the results of the form without it.
    explicit CudnnBackend(plan::CheckIndices check_indices, std::string omitted_quirk = {})
        : check_indices_(check_indices), omitted_quirk_(std::move(omitted_quirk)) {}

    char const* name() const override { return "cuDNN"; }
    bool serves(Target const& target) const override;
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override;
    Report limits(plan::PlanningInput const& input) const override;
    std::optional<std::string> circumstances(Target const& target, plan::Settings const& settings) const override;
    std::optional<std::string> environment(Target const& target, plan::Settings const& settings) const override;
    std::unique_ptr<rewrite::Costs const> costs(Target const& target, plan::Settings const& settings) const override;
    Result<plan::Loaded> load(plan::PlanningInput const& input, plan::Stored const& stored) const override;

   private:
    plan::CheckIndices check_indices_;
    std::string omitted_quirk_;
};

}  // namespace cudnn_frontend::cudnn
