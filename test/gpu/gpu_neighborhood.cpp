// The kernels of neighborhood attention on the GPU:
//   gpu_neighborhood [cases]       random cases of all functions against the formula, by tokens and by tiles
//   gpu_neighborhood speed         times of shapes of images, video and audio
#include "gpu/neighborhood_runs.h"
#include "gpu/neighborhood_speed.h"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <string>

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
    std::string const choice = argc > 1 ? argv[1] : "2000";
    int const failures =
        choice == "speed" ? sdpa_test::measure_neighborhood(device.value())
                          : sdpa_test::check_neighborhood(std::strtoull(choice.c_str(), nullptr, 10), device.value());
    return failures == 0 ? 0 : 1;
}
