// Neighborhood attention on the GPU, by graphs as programs make them:
//   gpu_neighborhood [cases]       random cases of all functions against the formula, by all engines
//   gpu_neighborhood line <seed>   a random case along a line as a program, and with one thing or another changed
//   gpu_neighborhood speed         times of shapes of audio, images and video
#include "gpu/neighborhood_runs.h"
#include "gpu/neighborhood_speed.h"
#include "gpu/this_gpu.h"

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
    if (sdpa_test::gpu_count() == 0) {
        std::puts("there is no GPU");
        return 77;
    }
    std::string const choice = argc > 1 ? argv[1] : "2000";
    std::puts(sdpa_test::describe_gpu().c_str());
    if (choice == "line" && argc > 2) {
        return sdpa_test::check_neighborhood_variants(std::strtoull(argv[2], nullptr, 10)) == 0 ? 0 : 1;
    }
    int const failures = choice == "speed"
                             ? sdpa_test::measure_neighborhoods()
                             : sdpa_test::check_neighborhoods_on_gpu(std::strtoull(choice.c_str(), nullptr, 10));
    return failures == 0 ? 0 : 1;
}
