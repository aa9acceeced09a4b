// An engine of kernels that run one after the other: their pointers come from a pack or from the workspace.
#pragma once

#include "kernels/launch/kernel.h"
#include "kernels/launch/queue_device.h"
#include "plan/seam/backend.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudnn_frontend::kernels {

// Where an operand is: in a tensor of the user's, or in the workspace.
struct KernelPlace {
    bool is_in_workspace = false;
    std::int64_t uid = 0;
    std::int64_t offset = 0;  // in the workspace, in bytes
};

struct ChainedKernel {
    // Makes the kernel from the result of Kernel::serialize(), or compiles it where there is none.
    std::function<Result<KernelPointer>(std::optional<std::string_view> stored)> make;
    std::vector<KernelPlace> places;  // of its operands, in order
};

// Kernels for tensors of other shapes, in the order of the chain.
struct ResizedKernels {
    std::vector<KernelPointer> kernels;
    std::int64_t workspace_bytes;
};

struct KernelChain {
    plan::EngineInfo info;
    std::string reason_against;  // the reason why it must not be used; empty if there is none
    std::vector<ChainedKernel> kernels;
    // Makes kernels for tensors of other shapes from those of the chain; null where it serves those of its graph alone.
    std::function<Result<ResizedKernels>(plan::TensorShapes, std::span<KernelPointer const>)> resized = nullptr;
};

class ChainEngine final : public plan::Engine {
   public:
    // `stored` is the result of serialize() by an executable of the same graph, if there is one: else the kernels are
    // compiled.
    ChainEngine(KernelChain chain, QueueDevice device, std::shared_ptr<plan::PackLayout const> layout,
                std::optional<std::string> stored)
        : chain_(std::move(chain)),
          device_(std::make_shared<QueueDevice const>(std::move(device))),
          layout_(std::move(layout)),
          stored_(std::move(stored)) {}

    plan::EngineInfo const& info() const override { return chain_.info; }
    std::string reason_against() const override { return chain_.reason_against; }
    Result<std::shared_ptr<plan::Executable const>> build() override;

   private:
    KernelChain chain_;
    std::shared_ptr<QueueDevice const> device_;
    std::shared_ptr<plan::PackLayout const> layout_;
    std::optional<std::string> stored_;
};

}  // namespace cudnn_frontend::kernels
