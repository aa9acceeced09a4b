// Kernels of this library's own as a backend: they run attention and neighborhood attention on a GPU, and join the
// partial results of programs.
#pragma once

#include "kernels/launch/queue_device.h"

namespace cudnn_frontend::kernels {

class KernelsBackend final : public plan::Backend {
   public:
    explicit KernelsBackend(Devices devices) : devices_(devices) {}

    char const* name() const override { return "kernels"; }
    bool serves(Target const& target) const override;
    bool takes(nodes::ValidatedGraph const& graph) const override;
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override;
    bool may_have_engine(std::string_view name) const override;
    Result<std::shared_ptr<plan::Proposal const>> propose_for_all_shapes(
        plan::PlanningInput const& input) const override;
    Result<std::shared_ptr<plan::Proposal const>> propose_batch_invariant(
        plan::PlanningInput const& input) const override;
    Report limits(plan::PlanningInput const& input) const override;
    Result<plan::Loaded> load(plan::PlanningInput const& input, plan::Stored const& stored) const override;
    std::optional<std::string> circumstances(Target const& target, plan::Settings const& settings) const override;
    std::optional<std::string> environment(Target const& target, plan::Settings const& settings) const override;
    std::unique_ptr<rewrite::Costs const> costs(Target const& target, plan::Settings const& settings) const override;
    bool joins(Target const& target) const override;
    error_t check_joints() const override;
    std::vector<BehaviorNote_t> notes_of_joints() const override { return {BehaviorNote_t::RUNTIME_COMPILATION}; }
    Result<std::shared_ptr<plan::Executable const>> join(rewrite::Joint const& joint, Target const& target,
                                                         plan::Settings const& settings,
                                                         std::optional<std::string_view> stored) const override;

   private:
    Devices devices_;
};

}  // namespace cudnn_frontend::kernels
