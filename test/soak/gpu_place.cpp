#include "gpu_place.h"

#include "data/gpu_memory.h"
#include "input.h"

namespace sdpa_test {
namespace {

namespace runtime = cudnn_frontend::runtime;

template <class... Arguments>
void call(char const* name, Arguments... arguments) {
    auto const function = reinterpret_cast<int (*)(Arguments...)>(sdpa::driver_function(name));
    int const status = function(arguments...);
    if (status != 0) throw sdpa::Failure(std::string(name) + " failed: CUDA error " + std::to_string(status));
}

constexpr unsigned kNonBlocking = 1;

}  // namespace

GpuPlace::GpuPlace() {
    call<void**, unsigned>("cuStreamCreate", &stream_, kNonBlocking);
    sdpa::require(runtime::create_handle(&handle_));
    sdpa::require(runtime::set_stream(handle_, static_cast<CUstream_st*>(stream_)));
}

GpuPlace::~GpuPlace() {
    static_cast<void>(runtime::destroy_handle(handle_));
    call("cuStreamDestroy_v2", stream_);
}

void GpuPlace::run(cudnn_frontend::graph::Graph const& graph, sdpa::Memories& memories) const {
    sdpa::Gpu_copies copies(memories, graph.get_workspace_size());
    auto pack = copies.pack();
    sdpa::require(graph.execute(handle_, pack, copies.workspace()));
    sdpa::Gpu_copies::wait();
    copies.copy_back();
}

std::int64_t used_gpu_bytes() {
    std::size_t free = 0, all = 0;
    call<std::size_t*, std::size_t*>("cuMemGetInfo_v2", &free, &all);
    return static_cast<std::int64_t>(all - free);
}

}  // namespace sdpa_test
