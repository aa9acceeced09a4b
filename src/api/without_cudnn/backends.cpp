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

Result<std::string> record_device(cudnnHandle_t, std::int32_t) { return no_cudnn(); }
Result<std::string> find_device(std::string const&) { return no_cudnn(); }
Result<std::string> parse_device(std::string const&) { return no_cudnn(); }
std::vector<std::string> device_names() { return {}; }

}  // namespace cudnn_frontend::api
