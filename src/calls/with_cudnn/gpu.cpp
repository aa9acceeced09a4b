// The parts of calls that need a GPU; without_cudnn/no_gpu.cpp has them for a library without cuDNN.
#include "calls/lease.h"
#include "calls/row_work.h"
#include "cuda/driver.h"
#include "kernels/rows/row_worker.h"

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

void use_gpu(std::int32_t device) noexcept { static_cast<void>(fe::cuda::use_device(device)); }

fe::error_t work_on_gpu(fe::rows::Work const& work, Tensor_view const& tensor, CUstream_st* stream) {
    // The kernel that fills memory is the same for all types, so that no other type needs kernels of its own.
    bool const is_filling = std::holds_alternative<fe::rows::Fill>(work);
    auto const worker =
        fe::kernels::RowWorker::make(is_filling ? fe::DataType_t::HALF : tensor.type, tensor.device_index, stream);
    return worker.is_bad() ? worker.error() : worker.value().run(work);
}

}  // namespace sdpa_graph::calls
