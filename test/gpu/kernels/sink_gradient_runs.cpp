#include "gpu/kernels/sink_gradient_runs.h"

#include "gpu/kernels/kernel_runs.h"
#include "support/sink_gradient_cases.h"

#include <cstdio>
#include <cstring>
#include <memory>

namespace sdpa_test {
namespace {

// A case's data on the GPU, each once.
class OnGpu {
   public:
    explicit OnGpu(SinkCase& c) {
        for (OperandData* const data : c.data()) {
            bool const is_known = !pointers_.empty() && data == last_;
            if (!is_known) {
                memory_.push_back(std::make_unique<DeviceBytes>(data->bytes.size()));
                cudaMemcpy(memory_.back()->get(), data->bytes.data(), data->bytes.size(), cudaMemcpyHostToDevice);
            }
            if (data == &c.gradient) gradient_ = memory_.back()->get();
            pointers_.push_back(memory_.back()->get());
            last_ = data;
        }
    }
    std::vector<void*> const& pointers() const { return pointers_; }
    void read_gradient(SinkCase& c) const {
        cudaMemcpy(c.gradient.bytes.data(), gradient_, c.gradient.bytes.size(), cudaMemcpyDeviceToHost);
    }

   private:
    std::vector<std::unique_ptr<DeviceBytes>> memory_;
    std::vector<void*> pointers_;
    OperandData const* last_ = nullptr;
    void* gradient_ = nullptr;
};

std::string fault_on_gpu(SinkCase& c, kernels::DeviceFacts const& device, WayToRun way) {
    auto const kernel = kernels::compile_sink_gradient(c.problem(), device);
    if (kernel.is_bad()) return kernel.error().err_msg;
    std::memset(c.gradient.bytes.data(), 0xff, c.gradient.bytes.size());
    OnGpu const place(c), other(c);
    if (std::string text = run_on_gpu(*kernel.value(), way, place.pointers(), other.pointers()); !text.empty()) {
        return text;
    }
    place.read_gradient(c);
    if (std::string text = fault_of(c); !text.empty()) return text;
    std::vector<std::byte> const first = c.gradient.bytes;
    for (int run = 0; run < 4; ++run) {
        std::string const text = run_on_gpu(*kernel.value(), WayToRun::Launch, other.pointers(), place.pointers());
        if (!text.empty()) return text;
        other.read_gradient(c);
        if (c.gradient.bytes != first) return "another run has other bits";
    }
    return {};
}

}  // namespace

int check_sink_gradients(std::uint64_t count, kernels::DeviceFacts const& device) {
    int failures = 0;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        SinkCase c = random_sink_case(seed);
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
