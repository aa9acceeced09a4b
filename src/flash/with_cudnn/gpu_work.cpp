#include "flash/gpu_work.h"

#include "kernels/row_worker.h"

namespace sdpa_graph::flash {

error_t work_on_gpu(Call const& call, CUstream_st* stream, fe::rows::Work const& work) {
    Tensor_view const& q = *call.at(Argument::Q);
    auto const worker = fe::kernels::RowWorker::make(q.type, q.device_index, stream);
    return worker.is_bad() ? worker.error() : worker.value().run(work);
}

}  // namespace sdpa_graph::flash
