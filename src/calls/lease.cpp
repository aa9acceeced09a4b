#include "calls/lease.h"

#include <cudnn_frontend/runtime.h>

#include <map>
#include <utility>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;

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

fe::Result<Lease> lease_target(Place const& place, Tensor_view const& tensor) {
    if (place.target) return Lease{*place.target, {}};
    if (tensor.device == Device_kind::CPU) return Lease{fe::Target::cpu(), {}};
    Kept& kept = kept_handle(tensor.device_index, place.stream);
    std::unique_lock lock(kept.in_use);
    if (kept.handle == nullptr) {
        if (fe::error_t failure = fe::runtime::create_handle(&kept.handle); failure.is_bad()) return failure;
        if (fe::error_t failure = fe::runtime::set_stream(kept.handle, place.stream); failure.is_bad()) return failure;
    }
    return Lease{fe::Target::cuda(kept.handle), std::move(lock)};
}

}  // namespace sdpa_graph::calls
