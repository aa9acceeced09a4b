#include "api/backends.h"

#include "cpu/cpu_backend.h"
#include "cpu/indices.h"
#include "cudnn/planning/cudnn_backend.h"
#include "cudnn/planning/planning_device.h"
#include "kernels/kernels_backend.h"

namespace cudnn_frontend::api {

static Result<cuda::DeviceFacts> find_facts(Target const& target, plan::Settings const& settings) {
    return cudnn::find_facts(target, settings.device.get());
}

// Never destroyed: static objects of the program may still plan after this library's were destroyed.
plan::Backends const& backends() {
    static auto const& cudnn = *new cudnn::Backend(cpu::check_indices_elsewhere);
    static auto const& kernels = *new kernels::Backend(find_facts);
    static auto const& all = *new plan::Backends{&cudnn, &kernels, &cpu::backend()};
    return all;
}

}  // namespace cudnn_frontend::api
