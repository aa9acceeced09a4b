#include "calls/row_work.h"

#include "kernels/rows/row_worker.h"

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;

fe::error_t work_on_gpu(fe::rows::Work const& work, Tensor_view const& tensor, CUstream_st* stream) {
    // The kernel that fills memory is the same for all types, so that no other type needs kernels of its own.
    bool const is_filling = std::holds_alternative<fe::rows::Fill>(work);
    auto const worker =
        fe::kernels::RowWorker::make(is_filling ? fe::DataType_t::HALF : tensor.type, tensor.device_index, stream);
    return worker.is_bad() ? worker.error() : worker.value().run(work);
}

}  // namespace sdpa_graph::calls
