#include "flash/gpu_work.h"
#include "flash/works.h"
#include "rows/host_worker.h"

#include <cudnn_frontend/runtime.h>

#include <thread>

namespace sdpa_graph::flash {
namespace {

// The machine's cores are counted once: counting them reads a file.
int threads_of(fe::Target const& target) {
    static int const cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    return target.threads() > 0 ? target.threads() : cores;
}

}  // namespace

error_t work(Call const& call, calls::Lease const& lease, fe::rows::Work const& work) {
    if (call.worker != nullptr) return call.worker->run(work);
    if (!call.is_on_gpu()) return fe::rows::HostWorker(call.at(Argument::Q)->type, threads_of(lease.target)).run(work);
    CUstream_st* stream = call.place->stream;
    if (call.place->target) SDPA_GRAPH_TRY(fe::runtime::get_stream(lease.target.handle(), &stream));
    return work_on_gpu(call, stream, work);
}

}  // namespace sdpa_graph::flash
