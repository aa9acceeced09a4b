// An engine of cuDNN for a user's graph, in the planner's form.
#pragma once

#include "cudnn/planning/executable.h"
#include "cudnn/planning/shared_graph.h"
#include "cudnn/quirks/quirk.h"
#include "plan/seam/backend.h"

#include <memory>
#include <string>

namespace cudnn_frontend::cudnn {

// The lowered graph and its circumstances; never changes.
struct LoweredWork {
    std::shared_ptr<Context const> context;
    std::shared_ptr<SharedGraph> graph;
    std::shared_ptr<Descriptor const> kernel_cache;
    quirks::Quirk const* bar_on_split_keys = nullptr;  // null where split-KV kernels are right
};

// The reason for which the quirk, if there is one, bars an engine; empty where there is none.
std::string reason_to_refuse(quirks::Quirk const* bar_on_split_keys, EngineChoice const& choice,
                             std::size_t cudnn_version);

class CudnnEngine final : public plan::Engine {
   public:
    CudnnEngine(std::shared_ptr<LoweredWork const> work, std::shared_ptr<SharedEngine> engine);

    plan::EngineInfo const& info() const override { return info_; }
    std::string reason_against() const override { return reason_against_; }
    Result<std::shared_ptr<plan::Executable const>> build() override;

   private:
    std::shared_ptr<LoweredWork const> work_;
    std::shared_ptr<SharedEngine> engine_;
    plan::EngineInfo info_;
    std::string reason_against_;
};

// The engine of a stored plan, which was examined when it was loaded.
class LoadedEngine final : public plan::Engine {
   public:
    LoadedEngine(Context const& context, EngineConfig const& config, std::shared_ptr<CudnnExecutable const> executable);

    plan::EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<plan::Executable const>> build() override { return executable_; }

   private:
    plan::EngineInfo info_;
    std::shared_ptr<plan::Executable const> executable_;
};

}  // namespace cudnn_frontend::cudnn
