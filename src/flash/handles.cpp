#include "flash/handles.h"

#include <cudnn_frontend/runtime.h>

#include <map>
#include <utility>

namespace sdpa_graph::flash {
namespace {

struct Kept {
    cudnnHandle_t handle = nullptr;
    std::mutex in_use;
};

// One for each stream of each device. Never destroyed: the driver may be gone when static objects are.
Kept& kept_handle(std::int32_t device, CUstream_st* stream) {
    static auto* const handles = new std::map<std::pair<std::int32_t, CUstream_st*>, Kept>();
    static std::mutex changing;
    std::lock_guard const lock(changing);
    return (*handles)[{device, stream}];
}

}  // namespace

fe::Result<Lease> lease_target(Call const& call) {
    if (call.place->target) return Lease{*call.place->target, {}};
    Tensor_view const& q = *call.at(Argument::Q);
    if (q.device == Device_kind::CPU) return Lease{fe::Target::cpu(), {}};
    Kept& kept = kept_handle(q.device_index, call.place->stream);
    std::unique_lock lock(kept.in_use);
    if (kept.handle == nullptr) {
        if (error_t failure = fe::runtime::create_handle(&kept.handle); failure.is_bad()) return failure;
        if (error_t failure = fe::runtime::set_stream(kept.handle, call.place->stream); failure.is_bad())
            return failure;
    }
    return Lease{fe::Target::cuda(kept.handle), std::move(lock)};
}

}  // namespace sdpa_graph::flash
