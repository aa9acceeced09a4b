#include "api/backends.h"

#include "api/without_cudnn/no_cudnn.h"
#include "cpu/cpu_backend.h"

namespace cudnn_frontend::api {
namespace {

// Replaces cuDNN and reports why it is missing.
class NoCudnn final : public plan::Backend {
   public:
    char const* name() const override { return "cuDNN"; }
    bool serves(Target const& target) const override {
        return target.kind() == Target::Kind::CUDA || target.kind() == Target::Kind::OFFLINE;
    }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const&) const override {
        return no_cudnn();
    }
};

}  // namespace

plan::Backends const& backends() {
    static auto const& cudnn = *new NoCudnn();
    static auto const& all = *new plan::Backends{&cudnn, &cpu::backend()};
    return all;
}

}  // namespace cudnn_frontend::api
