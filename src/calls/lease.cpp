#include "calls/lease.h"

#include <cudnn_frontend/runtime.h>

#include <atomic>
#include <list>
#include <map>
#include <utility>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;

namespace {

struct Kept {
    cudnnHandle_t handle = nullptr;
    // The call that uses the handle writes it, and calls that look for a handle read it.
    std::atomic<CUstream_st*> stream = nullptr;
    std::mutex in_use;
};
using Handles = std::list<Kept>;

// A free handle that has this stream already, else another free one, else a new one: a call on a new stream may be
// under capture, when no handle can be made. Handles are never destroyed: the driver may be gone when static objects
// are.
std::pair<Kept*, std::unique_lock<std::mutex>> free_handle(std::int32_t device, CUstream_st* stream) {
    static auto* const of_devices = new std::map<std::int32_t, Handles>();
    static std::mutex changing;
    std::lock_guard const lock(changing);
    Handles& handles = (*of_devices)[device];
    for (bool const needs_stream : {true, false}) {
        for (Kept& kept : handles) {
            std::unique_lock in_use(kept.in_use, std::defer_lock);
            if ((!needs_stream || kept.stream == stream) && in_use.try_lock()) return {&kept, std::move(in_use)};
        }
    }
    Kept& made = handles.emplace_back();
    return {&made, std::unique_lock(made.in_use)};
}

fe::error_t ready(Kept& kept, CUstream_st* stream) {
    bool const is_new = kept.handle == nullptr;
    if (is_new) SDPA_GRAPH_TRY(fe::runtime::create_handle(&kept.handle));
    if (!is_new && kept.stream == stream) return {};
    SDPA_GRAPH_TRY(fe::runtime::set_stream(kept.handle, stream));
    kept.stream = stream;
    return {};
}

}  // namespace

fe::Result<Lease> lease_target(Place const& place, Tensor_view const& tensor) {
    if (place.target) return Lease{*place.target, {}, is_recorded(*place.target)};
    if (tensor.device == Device_kind::CPU) return Lease{fe::Target::cpu(), {}};
    use_gpu(tensor.device_index);
    auto [kept, in_use] = free_handle(tensor.device_index, place.stream);
    if (fe::error_t failure = ready(*kept, place.stream); failure.is_bad()) return failure;
    fe::Target target = fe::Target::cuda(kept->handle);
    bool const is_captured = is_recorded(target);
    return Lease{std::move(target), std::move(in_use), is_captured};
}

}  // namespace sdpa_graph::calls
