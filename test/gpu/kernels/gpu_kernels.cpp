// The library's own kernels on the GPU:
//   gpu_kernels [cases]   random cases, of neighborhoods in every form, strides and counts past 2^31, and the bandwidth
//                         next to that of a copy
//   gpu_kernels small     few random cases, for a sanitizer
//   gpu_kernels racecheck the same for compute-sanitizer's racecheck, without kernels that it does not understand
#include "gpu/kernels/kernel_bandwidth.h"
#include "gpu/kernels/kernel_runs.h"
#include "gpu/kernels/large_kernels.h"
#include "gpu/kernels/neighborhood_kernel_runs.h"
#include "gpu/kernels/sink_gradient_runs.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace sdpa_test;
using cudnn_frontend::cuda::DeviceFacts;

constexpr std::uint64_t kCases = 600, kSmallCases = 60, kSinks = 200, kSmallSinks = 20;
constexpr int kNeighborhoods = 100, kSmallNeighborhoods = 8;  // in each form

// Half of the cases are divided as on a GPU that so small problems keep busy: a thread then has two vectors.
int check_random_cases(std::uint64_t count, DeviceFacts const& device) {
    DeviceFacts const small{device.compute_capability, 0};
    int failures = 0;
    for (std::uint64_t seed = 0; seed < count; ++seed) {
        KernelCase const made = random_joint_case(seed);
        DeviceFacts const& facts = seed % 2 == 0 ? device : small;
        std::string const fault = fault_on_gpu(made, facts, static_cast<WayToRun>(seed % kWaysToRun));
        if (fault.empty()) continue;
        ++failures;
        std::printf("case %llu: %s\n  %s\n", static_cast<unsigned long long>(seed), fault.c_str(), made.text().c_str());
    }
    std::printf("%llu random cases: %d wrong\n", static_cast<unsigned long long>(count), failures);
    return failures;
}

}  // namespace

int main(int argc, char** argv) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::puts("there is no GPU");
        return 77;
    }
    cudaFree(nullptr);  // makes the context that all use
    auto const device = cudnn_frontend::cuda::device_facts(0);
    if (device.is_bad()) {
        std::puts(device.error().err_msg.c_str());
        return 1;
    }
    std::string const choice = argc > 1 ? argv[1] : std::to_string(kCases);
    if (choice == "small" || choice == "racecheck") {
        auto const which = choice == "small" ? NeighborhoodKernels::All : NeighborhoodKernels::ThatRacecheckKnows;
        int const failures = check_random_cases(kSmallCases, device.value()) +
                             check_sink_gradients(kSmallSinks, device.value()) +
                             check_neighborhood_kernels(which, kSmallNeighborhoods, device.value());
        return failures == 0 ? 0 : 1;
    }
    int failures = check_random_cases(std::strtoull(choice.c_str(), nullptr, 10), device.value());
    failures += check_sink_gradients(kSinks, device.value());
    failures += check_neighborhood_kernels(NeighborhoodKernels::All, kNeighborhoods, device.value());
    failures += check_large_kernels(device.value());
    failures += measure_kernels(device.value());
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
