// A compiled engine, ready to run.
#pragma once

#include "cudnn/library/engine_config.h"

#include <memory>
#include <string>

namespace cudnn_frontend::cudnn {

class EnginePlan {
   public:
    // Compiles, which takes tens of milliseconds up to a second. Consumes the configuration.
    static Result<std::shared_ptr<EnginePlan const>> build(BackendConfig config, Device const* device,
                                                           Descriptor const* kernel_cache);
    // Loads the text of serialize(), for the choice that the plan was built from, since cuDNN's text has values for all
    // knobs, also for those left to the engine.
    static Result<std::shared_ptr<EnginePlan const>> load(Api const& api, EngineChoice choice, std::string const& json,
                                                          cudnnHandle_t handle, Device const* device);

    EngineConfig const& config() const { return config_; }
    std::int64_t workspace_bytes() const { return workspace_bytes_; }
    Descriptor const& descriptor() const { return plan_; }
    Result<std::string> serialize() const;

   private:
    Descriptor plan_;
    EngineConfig config_;
    std::int64_t workspace_bytes_ = 0;
};

}  // namespace cudnn_frontend::cudnn
