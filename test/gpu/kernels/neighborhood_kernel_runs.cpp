#include "gpu/kernels/neighborhood_kernel_runs.h"

#include "gpu/device_bytes.h"
#include "support/kernels/neighborhood_kernel_cases.h"

#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace sdpa_test {
namespace {

using kernels::NeighborhoodForm;

constexpr NeighborhoodLimits kSizes{800, 300, 3};

std::string problem(cudaError_t status) { return status == cudaSuccess ? "" : cudaGetErrorString(status); }

// A case's tensors on the GPU.
class DeviceTensors {
   public:
    explicit DeviceTensors(KernelCase const& made) {
        for (KernelTensor const& data : made.tensors) {
            memory_.push_back(std::make_unique<DeviceBytes>(data.bytes.size()));
            cudaMemcpy(memory_.back()->get(), data.bytes.data(), data.bytes.size(), cudaMemcpyHostToDevice);
        }
    }
    std::vector<void*> pointers(KernelCase const& made, KernelStep const& step) const {
        std::vector<void*> pointers;
        for (std::size_t const data : step.tensors) pointers.push_back(memory_[data]->get() + made.tensors[data].start);
        return pointers;
    }
    std::vector<std::vector<std::byte>> bytes(KernelCase const& made) const {
        std::vector<std::vector<std::byte>> all;
        for (KernelTensor const& data : made.tensors) {
            std::vector<std::byte>& bytes = all.emplace_back(data.bytes.size());
            cudaMemcpy(bytes.data(), memory_[all.size() - 1]->get(), bytes.size(), cudaMemcpyDeviceToHost);
        }
        return all;
    }

   private:
    std::vector<std::unique_ptr<DeviceBytes>> memory_;
};

std::string fault_on_gpu(KernelCase const& made, NeighborhoodForm form, kernels::DeviceFacts const& device) {
    DeviceTensors const tensors(made);
    for (KernelStep const& step : made.steps) {
        auto const kernel = kernels::compile_neighborhood(step.neighborhood(), form, device);
        if (kernel.is_bad()) return kernel.error().err_msg;
        auto const error = kernel.value()->launch(nullptr, tensors.pointers(made, step));
        if (error.is_bad()) return error.err_msg;
    }
    std::string const text = problem(cudaDeviceSynchronize());
    return text.empty() ? fault_of_neighborhood(made, tensors.bytes(made)) : text;
}

bool is_among(KernelCase const& made, NeighborhoodForm form, NeighborhoodKernels which) {
    bool const are_gradients = form == NeighborhoodForm::Warpgroups && is_fused_backward(made);
    return which == NeighborhoodKernels::All || !are_gradients;
}

// Checks this many cases that the form allows; none on a GPU without it.
int check_form(NeighborhoodKernels which, NeighborhoodForm form, int cases, kernels::DeviceFacts const& device) {
    int run = 0, wrong = 0;
    bool const is_here = form != NeighborhoodForm::Warpgroups || device.compute_capability == 90;
    for (std::uint64_t seed = 0; is_here && run < cases; ++seed) {
        KernelCase const made = random_neighborhood_kernel_case(seed, kSizes, form);
        if (!allows(made, form, device) || !is_among(made, form, which)) continue;
        ++run;
        std::string const fault = fault_on_gpu(made, form, device);
        if (fault.empty()) continue;
        ++wrong;
        std::printf("neighborhood case %llu by %s: %s\n  %s\n", static_cast<unsigned long long>(seed),
                    kernels::to_string(form), fault.c_str(), made.text().c_str());
    }
    std::printf("%d random cases of neighborhoods by %s: %d wrong\n", run, kernels::to_string(form), wrong);
    return wrong;
}

}  // namespace

int check_neighborhood_kernels(NeighborhoodKernels which, int cases, cudnn_frontend::cuda::DeviceFacts const& device) {
    int failures = 0;
    for (NeighborhoodForm const form :
         {NeighborhoodForm::Tokens, NeighborhoodForm::Tiles, NeighborhoodForm::Warpgroups}) {
        failures += check_form(which, form, cases, device);
    }
    return failures;
}

}  // namespace sdpa_test
