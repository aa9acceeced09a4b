// Kernels of this library's own as a backend: they join the partial results of programs on a GPU.
#pragma once

#include "cuda/device_facts.h"
#include "plan/backend.h"

namespace cudnn_frontend::kernels {

// Finds out what kernels are compiled for.
using FindFacts = Result<cuda::DeviceFacts> (*)(Target const&, plan::Settings const&);

class Backend final : public plan::Backend {
   public:
    explicit Backend(FindFacts find_facts) : find_facts_(find_facts) {}

    char const* name() const override { return "kernels"; }
    bool serves(Target const&) const override { return false; }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const&) const override;
    bool joins(Target const& target) const override;
    error_t check_joints() const override;
    std::vector<BehaviorNote_t> notes_of_joints() const override { return {BehaviorNote_t::RUNTIME_COMPILATION}; }
    Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, Target const& target,
                                                         plan::Settings const& settings,
                                                         std::optional<std::string_view> stored) const override;

   private:
    FindFacts find_facts_;
};

}  // namespace cudnn_frontend::kernels
