// cuDNN's proposal for a graph.
#pragma once

#include "cudnn/planning/engine.h"

#include <memory>
#include <mutex>
#include <vector>

namespace cudnn_frontend::cudnn {

class CudnnProposal final : public plan::Proposal {
   public:
    explicit CudnnProposal(std::shared_ptr<LoweredWork const> work);

    Result<plan::Engines> engines(std::vector<HeurMode_t> const& modes) const override;
    Result<std::int64_t> engine_count() const override;
    Result<std::vector<Knob>> knobs_of_engine(std::int64_t number) const override;
    Result<std::shared_ptr<plan::Engine>> engine(std::int64_t number, plan::KnobChoices const& knobs) const override;
    void forget() const override;

   private:
    // The engines as they were found for a list of modes. The facts about an engine are the same for every graph that
    // is built again.
    struct FoundEngines {
        std::vector<HeurMode_t> modes;
        plan::Engines engines;
    };

    std::shared_ptr<LoweredWork const> work_;
    mutable std::mutex mutex_;
    mutable std::vector<FoundEngines> found_;
};

// The proposal of a stored plan: there is no graph about which heuristics could be asked.
class LoadedProposal final : public plan::Proposal {
   public:
    explicit LoadedProposal(std::shared_ptr<plan::PackLayout const> layout);

    Result<plan::Engines> engines(std::vector<HeurMode_t> const& modes) const override;
    Result<std::vector<Knob>> knobs_of_engine(std::int64_t number) const override;
    Result<std::shared_ptr<plan::Engine>> engine(std::int64_t number, plan::KnobChoices const& knobs) const override;
};

}  // namespace cudnn_frontend::cudnn
