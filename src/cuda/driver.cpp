#include "cuda/driver.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <system_error>

namespace cudnn_frontend::cuda {
namespace {

error_t make_event(CUevent& event) {
    return ask("making a CUDA event", [&](Driver const& cuda) { return cuda.create_event(&event, CU_EVENT_DEFAULT); });
}

// Releases an object in a destructor, which cannot report an error.
template <class Call>
void release(Call const& call) {
    if (auto const found = driver(); found.is_good()) call(*found.value());
}

}  // namespace

// Once the driver has started, it reports the same GPUs to the end of the process.
Result<int> device_count() {
    static std::atomic<int> seen{0};
    if (seen > 0) return seen.load();
    int count = 0;
    SDPA_GRAPH_TRY(ask("starting the CUDA driver", [](Driver const& cuda) { return cuda.init(0); }));
    SDPA_GRAPH_TRY(ask("counting the GPUs", [&](Driver const& cuda) { return cuda.device_count(&count); }));
    seen = count;
    if (count > 0) return count;
    return error_t(error_code_t::INVALID_CUDA_DEVICE, "there is no GPU");
}

error_t check_driver() {
    error_t found = device_count().error();
    if (found.is_bad()) {
        found.err_msg = "no GPU can be used here: " + found.err_msg +
                        "; Target::cpu() runs the graph on the CPU, Target::offline(\"h200\") plans it for a GPU";
    }
    return found;
}

bool may_have_gpu() {
    constexpr char const* kFiles[] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/dxg", "/dev/nvmap"};  // WSL, Jetson
    return std::any_of(std::begin(kFiles), std::end(kFiles), [](char const* file) {
        std::error_code ignored;
        return std::filesystem::exists(file, ignored);
    });
}

error_t use_device(int ordinal) {
    SDPA_GRAPH_TRY(check_driver());
    CUcontext context = nullptr;
    SDPA_GRAPH_TRY(
        ask("asking for the CUDA context", [&](Driver const& cuda) { return cuda.current_context(&context); }));
    if (context != nullptr) return {};
    SDPA_GRAPH_TRY(ask("opening the GPU", [&](Driver const& cuda) { return cuda.retain_context(&context, ordinal); }));
    return ask("choosing the GPU", [&](Driver const& cuda) { return cuda.set_current_context(context); });
}

error_t use_device_of(CUstream stream) {
    if (stream == nullptr) return use_device(0);
    CUcontext current = nullptr, own = nullptr;
    return ask("choosing the GPU of a stream", [&](Driver const& cuda) {
        CUresult result = cuda.current_context(&current);
        if (result == CUDA_SUCCESS) result = cuda.context_of_stream(stream, &own);
        return result == CUDA_SUCCESS && current == nullptr ? cuda.set_current_context(own) : result;
    });
}

Result<DriverNames> names_of(int ordinal) {
    SDPA_GRAPH_TRY(check_driver());
    char name[256] = {};
    int major = 0;
    SDPA_GRAPH_TRY(ask("asking for the GPU's name",
                       [&](Driver const& cuda) { return cuda.device_name(name, sizeof name, ordinal); }));
    SDPA_GRAPH_TRY(driver_major().move_to(major));
    return DriverNames{name, major};
}

Result<int> driver_major() {
    constexpr int kThousand = 1000;
    int version = 0;
    SDPA_GRAPH_TRY(
        ask("asking for the driver's version", [&](Driver const& cuda) { return cuda.get_version(&version); }));
    return version / kThousand;
}

error_t stay_out_of_captures() {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return ask("leaving captures alone", [&](Driver const& cuda) { return cuda.exchange_capture_mode(&mode); });
}

Result<int> memory_bus_width(int ordinal) {
    int bits = 0;
    SDPA_GRAPH_TRY(ask("asking for the width of the memory bus", [&](Driver const& cuda) {
        return cuda.device_attribute(&bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, ordinal);
    }));
    return bits;
}

Result<int> device_of(CUstream stream) {
    CUcontext current = nullptr, own = nullptr;
    CUdevice device = 0;
    SDPA_GRAPH_TRY(ask("asking for the stream's device", [&](Driver const& cuda) {
        CUresult result = cuda.current_context(&current);
        if (result == CUDA_SUCCESS) result = cuda.context_of_stream(stream, &own);
        if (result == CUDA_SUCCESS) result = cuda.set_current_context(own);
        if (result != CUDA_SUCCESS) return result;
        result = cuda.device_of_context(&device);
        CUresult const restored = cuda.set_current_context(current);
        return result == CUDA_SUCCESS ? restored : result;
    }));
    return static_cast<int>(device);
}

DeviceMemory::~DeviceMemory() {
    release([&](Driver const& cuda) { cuda.free(address); });
}

Result<std::shared_ptr<DeviceMemory const>> allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    SDPA_GRAPH_TRY(ask("allocating GPU memory", [&](Driver const& cuda) { return cuda.allocate(&address, bytes); }));
    return std::shared_ptr<DeviceMemory const>(std::make_shared<DeviceMemory>(address));
}

// The copy returns when the bytes have left the host's memory, before they have arrived: a stream that does not wait
// for the default one could run a plan too early.
error_t upload(DeviceMemory const& memory, std::size_t offset, std::span<std::byte const> bytes) {
    SDPA_GRAPH_TRY(ask("copying to the GPU", [&](Driver const& cuda) {
        return cuda.copy_to_device(memory.address + offset, bytes.data(), bytes.size());
    }));
    return ask("waiting for a copy", [](Driver const& cuda) { return cuda.wait_for_stream(CU_STREAM_LEGACY); });
}

error_t download(std::span<std::byte> to, void const* from) {
    if (to.empty()) return {};
    return ask("copying from the GPU", [&](Driver const& cuda) {
        return cuda.copy_to_host(to.data(), std::bit_cast<CUdeviceptr>(from), to.size());
    });
}

error_t clear(CUstream stream, std::span<std::byte> memory) {
    return ask("clearing GPU memory", [&](Driver const& cuda) {
        auto const start = std::bit_cast<CUdeviceptr>(memory.data());
        return enqueue_on(stream, [&] { return cuda.fill_bytes(start, 0, memory.size(), stream); });
    });
}

error_t wait_for(CUstream stream) {
    return ask("waiting for a stream", [&](Driver const& cuda) { return cuda.wait_for_stream(stream); });
}

Result<bool> is_capturing(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    SDPA_GRAPH_TRY(ask("asking whether a stream is captured",
                       [&](Driver const& cuda) { return cuda.is_capturing(stream, &status); }));
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Result<std::shared_ptr<StreamClock>> StreamClock::make(CUstream stream) {
    SDPA_GRAPH_TRY(check_driver());
    auto clock = std::make_shared<StreamClock>();
    clock->stream_ = stream;
    SDPA_GRAPH_TRY(make_event(clock->begin_));
    SDPA_GRAPH_TRY(make_event(clock->end_));
    return clock;
}

StreamClock::~StreamClock() {
    release([&](Driver const& cuda) {
        if (begin_ != nullptr) cuda.destroy_event(begin_);
        if (end_ != nullptr) cuda.destroy_event(end_);
    });
}

error_t StreamClock::start() {
    return ask("timing a stream", [&](Driver const& cuda) { return cuda.record_event(begin_, stream_); });
}

Result<double> StreamClock::stop() {
    float milliseconds = 0;
    SDPA_GRAPH_TRY(ask("timing a stream", [&](Driver const& cuda) { return cuda.record_event(end_, stream_); }));
    SDPA_GRAPH_TRY(ask("waiting for a stream", [&](Driver const& cuda) { return cuda.wait_for_event(end_); }));
    SDPA_GRAPH_TRY(
        ask("timing a stream", [&](Driver const& cuda) { return cuda.elapsed(&milliseconds, begin_, end_); }));
    return double{milliseconds} * 1000.0;
}

}  // namespace cudnn_frontend::cuda
