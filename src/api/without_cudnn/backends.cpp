#include "api/backends.h"

#include "cpu/cpu_backend.h"

namespace cudnn_frontend::api {

error_t no_cudnn() {
    return {error_code_t::GRAPH_NOT_SUPPORTED,
            "this build of the library has no cuDNN target, because no headers of cuDNN 9.10 or newer and CUDA were "
            "found when it was configured; build the graph with Target::cpu() or Target::reference() and host "
            "pointers, or install the headers (pip install nvidia-cudnn-cu13 nvidia-cuda-runtime nvidia-cuda-crt) and "
            "build the library again"};
}

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
    static auto const& all = *new plan::Backends{&cudnn, kernels_on_streams(), &cpu::backend()};
    return all;
}

}  // namespace cudnn_frontend::api
