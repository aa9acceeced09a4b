#include "gpu/kernels/sink_gradient_runs.h"

#include "gpu/kernels/kernel_runs.h"
#include "support/kernels/sink_gradient_cases.h"

#include <algorithm>
#include <cstdio>
#include <memory>

namespace sdpa_test {
namespace {

// A case's tensors on the GPU.
class OnGpu {
   public:
    explicit OnGpu(KernelCase const& c) {
        for (KernelTensor const& tensor : c.tensors) {
            memory_.push_back(std::make_unique<DeviceBytes>(tensor.bytes.size()));
            cudaMemcpy(memory_.back()->get(), tensor.bytes.data(), tensor.bytes.size(), cudaMemcpyHostToDevice);
        }
        for (std::size_t const tensor : c.steps.front().tensors) pointers_.push_back(memory_[tensor]->get());
    }
    std::vector<void*> const& pointers() const { return pointers_; }
    void read_gradient(KernelCase& c) const {
        std::vector<std::byte>& bytes = c.tensors[SinkTensor::Gradient].bytes;
        cudaMemcpy(bytes.data(), memory_[SinkTensor::Gradient]->get(), bytes.size(), cudaMemcpyDeviceToHost);
    }

   private:
    std::vector<std::unique_ptr<DeviceBytes>> memory_;
    std::vector<void*> pointers_;
};

std::string fault_on_gpu(KernelCase& c, kernels::DeviceFacts const& device, WayToRun way) {
    auto const kernel = kernels::compile_sink_gradient(c.steps.front().sink_gradient(), device);
    if (kernel.is_bad()) return kernel.error().err_msg;
    std::ranges::fill(c.tensors[SinkTensor::Gradient].bytes, std::byte{0xff});
    OnGpu const place(c), other(c);
    if (std::string text = run_on_gpu(*kernel.value(), way, place.pointers(), other.pointers()); !text.empty()) {
        return text;
    }
    place.read_gradient(c);
    if (std::string text = fault_of_sink_gradient(c); !text.empty()) return text;
    std::vector<std::byte> const first = c.tensors[SinkTensor::Gradient].bytes;
    for (int run = 0; run < 4; ++run) {
        std::string const text = run_on_gpu(*kernel.value(), WayToRun::Launch, other.pointers(), place.pointers());
        if (!text.empty()) return text;
        other.read_gradient(c);
        if (c.tensors[SinkTensor::Gradient].bytes != first) return "another run has other bits";
    }
    return {};
}

}  // namespace

int check_sink_gradients(std::uint64_t count, kernels::DeviceFacts const& device) {
    int failures = 0;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        KernelCase c = random_sink_case(seed);
        std::string const fault = fault_on_gpu(c, device, static_cast<WayToRun>(seed % kWaysToRun));
        if (fault.empty()) continue;
        ++failures;
        std::printf("gradient of a sink, case %llu: %s\n  %s\n", static_cast<unsigned long long>(seed), fault.c_str(),
                    c.text().c_str());
    }
    std::printf("%llu gradients of sinks: %d wrong\n", static_cast<unsigned long long>(count), failures);
    return failures;
}

}  // namespace sdpa_test
