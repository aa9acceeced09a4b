#include "api/backends.h"

namespace cudnn_frontend::api {

namespace {

// Says why there are no kernels.
class NoKernels final : public plan::Backend {
   public:
    char const* name() const override { return "kernels"; }
    bool serves(Target const& target) const override { return target.kind() == Target::Kind::STREAM; }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const&) const override {
        return error_t(
            error_code_t::GRAPH_NOT_SUPPORTED,
            "this build of the library has no kernels for streams, because no headers of CUDA were found when it "
            "was configured; build the graph with Target::cpu() and host pointers, or install the headers (pip "
            "install nvidia-cuda-runtime nvidia-cuda-crt) and build the library again");
    }
};

}  // namespace

plan::Backend const* kernels_on_streams() {
    static auto const& none = *new NoKernels();
    return &none;
}

}  // namespace cudnn_frontend::api
