#include "calls/lease.h"

#include "cuda/driver.h"

#include <cudnn_frontend/runtime.h>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;

bool is_recorded(fe::Target const& target) noexcept {
    if (target.kind() != fe::Target::Kind::CUDA || target.handle() == nullptr) return false;
    CUstream_st* stream = nullptr;
    if (fe::runtime::get_stream(target.handle(), &stream).is_bad()) return false;
    auto const is_captured = fe::cuda::is_capturing(stream);
    return is_captured.is_good() && is_captured.value();
}

}  // namespace sdpa_graph::calls
