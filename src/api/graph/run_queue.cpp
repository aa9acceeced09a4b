#include "api/graph/run_queue.h"

namespace cudnn_frontend::api {

error_t check_queue(Target::Kind planned_for, detail::Run_queue const& queue) {
    bool const is_for_stream = planned_for == Target::Kind::STREAM;
    bool const needs_handle = planned_for == Target::Kind::CUDA || planned_for == Target::Kind::OFFLINE;
    if (queue.is_stream ? !needs_handle : !is_for_stream) return {};
    return {
        error_code_t::INVALID_VALUE,
        queue.is_stream
            ? "the plan was built for a cuDNN handle, and the call has a Cuda_stream; pass a handle, whose "
              "stream runtime::set_stream() sets"
            : "the plan was built for Target::cuda(Cuda_stream), and the call has none; pass one, which may be that of "
              "the default stream"};
}

}  // namespace cudnn_frontend::api
