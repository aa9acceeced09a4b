// Engines for graphs of one neighborhood attention.
#pragma once

#include "kernels/launch/queue_device.h"
#include "kernels/neighborhood/neighborhood_graph.h"
#include "plan/seam/backend.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace cudnn_frontend::kernels {

// The name by which plans are stored.
std::string engine_name(NeighborhoodForm form);

class NeighborhoodEngine final : public plan::Engine {
   public:
    // `stored` is the result of serialize() by an executable of the same graph, if there is one: else the kernels are
    // compiled.
    NeighborhoodEngine(NeighborhoodSteps steps, QueueDevice device, std::shared_ptr<plan::PackLayout const> layout,
                       std::optional<std::string> stored);

    plan::EngineInfo const& info() const override { return info_; }
    std::string reason_against() const override;
    Result<std::shared_ptr<plan::Executable const>> build() override;

   private:
    Result<KernelPointer> make_kernel(NeighborhoodKernelProblem const& problem, std::string_view code) const;

    NeighborhoodSteps steps_;
    QueueDevice device_;
    std::shared_ptr<plan::PackLayout const> layout_;
    std::optional<std::string> stored_;
    plan::EngineInfo info_;
};

}  // namespace cudnn_frontend::kernels
