#include "nccl/nccl_transport.h"

#include "cuda/driver.h"
#include "cuda/shared_object.h"

#include <bit>
#include <string>
#include <vector>

namespace cudnn_frontend::nccl {
namespace {

// The driver's functions that exchanges alone call.
struct StreamTable {
    decltype(&cuStreamCreateWithPriority) create = nullptr;
    decltype(&cuStreamDestroy) destroy = nullptr;
    decltype(&cuStreamWaitEvent) wait = nullptr;
    decltype(&cuStreamQuery) query = nullptr;
    decltype(&cuCtxGetStreamPriorityRange) priorities = nullptr;
};

Result<StreamTable> find_functions() {
    SDPA_GRAPH_TRY(cuda::check_driver());
    cuda::SharedObject const object = cuda::loaded_object("libcuda.so.1");
    StreamTable table;
    cuda::FunctionFinder find(object);
    find(table.create, "cuStreamCreateWithPriority");
    find(table.destroy, "cuStreamDestroy_v2");
    find(table.wait, "cuStreamWaitEvent");
    find(table.query, "cuStreamQuery");
    find(table.priorities, "cuCtxGetStreamPriorityRange");
    if (find.missing().empty()) return table;
    return error_t(error_code_t::INVALID_CUDA_DEVICE, "the CUDA driver lacks " + find.missing() + "; update it");
}

class DriverStreams final : public GpuStreams {
   public:
    explicit DriverStreams(StreamTable const& table) : table_(table) {}

    ~DriverStreams() override {
        static_cast<void>(cuda::ask("ending a stream", [&](cuda::Driver const& driver) {
            for (CUevent const event : events_) driver.destroy_event(event);
            return own_ == nullptr ? CUDA_SUCCESS : table_.destroy(own_);
        }));
    }

    // Exchanges come before the kernels behind which they hide.
    error_t make_own() {
        int least = 0, greatest = 0;
        SDPA_GRAPH_TRY(cuda::ask("asking for priorities of streams",
                                 [&](cuda::Driver const&) { return table_.priorities(&least, &greatest); }));
        return cuda::ask("making a stream",
                         [&](cuda::Driver const&) { return table_.create(&own_, CU_STREAM_NON_BLOCKING, greatest); });
    }

    CUstream own() const override { return own_; }

    error_t make_wait(CUstream waiting, CUstream other, CUevent event) override {
        SDPA_GRAPH_TRY(record_on(other, event));
        return make_wait_for(waiting, event);
    }
    error_t record(CUevent event) override { return record_on(own_, event); }
    error_t make_wait_for(CUstream waiting, CUevent event) override {
        return cuda::ask("ordering streams", [&](cuda::Driver const&) { return table_.wait(waiting, event, 0); });
    }

    Result<CUevent> make_event() override { return make_event(CU_EVENT_DISABLE_TIMING); }
    Result<CUevent> make_timed_event() override { return make_event(CU_EVENT_DEFAULT); }

    error_t record_on(CUstream stream, CUevent event) override {
        return cuda::ask("recording an event",
                         [&](cuda::Driver const& driver) { return driver.record_event(event, stream); });
    }

    Result<double> milliseconds_between(CUevent begin, CUevent end) override {
        float milliseconds = 0;
        SDPA_GRAPH_TRY(cuda::ask("timing an exchange, whose run has to be done", [&](cuda::Driver const& driver) {
            return driver.elapsed(&milliseconds, begin, end);
        }));
        return double{milliseconds};
    }

    Result<bool> is_done(CUstream stream) override {
        CUresult state = CUDA_SUCCESS;
        SDPA_GRAPH_TRY(cuda::ask("asking whether a stream is done", [&](cuda::Driver const&) {
            state = table_.query(stream);
            return state == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : state;
        }));
        return state == CUDA_SUCCESS;
    }
    Result<bool> is_capturing(CUstream stream) override { return cuda::is_capturing(stream); }

    Result<std::shared_ptr<void>> allocate(std::size_t bytes) override {
        auto memory = cuda::allocate(bytes);
        if (memory.is_bad()) return memory.error();
        void* const address = memory.value()->pointer();
        return std::shared_ptr<void>(std::move(memory).value(), address);
    }
    error_t upload(void* to, std::span<std::byte const> bytes) override {
        return cuda::ask("copying to the GPU", [&](cuda::Driver const& driver) {
            return driver.copy_to_device(std::bit_cast<CUdeviceptr>(to), bytes.data(), bytes.size());
        });
    }
    error_t download(std::span<std::byte> to, void const* from) override { return cuda::download(to, from); }

   private:
    Result<CUevent> make_event(unsigned flags) {
        CUevent event = nullptr;
        SDPA_GRAPH_TRY(cuda::ask("making an event",
                                 [&](cuda::Driver const& driver) { return driver.create_event(&event, flags); }));
        events_.push_back(event);
        return event;
    }

    StreamTable table_;
    CUstream own_ = nullptr;
    std::vector<CUevent> events_;
};

}  // namespace

Result<std::unique_ptr<GpuStreams>> make_gpu_streams() {
    auto const table = find_functions();
    if (table.is_bad()) return table.error();
    auto streams = std::make_unique<DriverStreams>(table.value());
    SDPA_GRAPH_TRY(streams->make_own());
    return std::unique_ptr<GpuStreams>(std::move(streams));
}

}  // namespace cudnn_frontend::nccl
