// Neighborhood attention on the GPU, by graphs as programs make them:
//   gpu_neighborhood [cases]         random cases of all functions against the formula, by all engines
//   gpu_neighborhood line <seed>     a random case along a line as a program, and with one thing or another changed
//   gpu_neighborhood speed [engine]  times of shapes of audio, images and video, by that engine next to the first one
#include "gpu/neighborhood/neighborhood_engines.h"
#include "gpu/neighborhood/neighborhood_runs.h"
#include "gpu/neighborhood/neighborhood_speed.h"
#include "gpu/this_gpu.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

int measure(std::string const& engine) {
    if (engine.empty() || sdpa_test::is_neighborhood_engine(engine)) {
        return sdpa_test::measure_neighborhoods(engine) == 0 ? 0 : 1;
    }
    std::printf("there is no engine '%s'; there are", engine.c_str());
    for (char const* const name : sdpa_test::kNeighborhoodEngines) std::printf(" %s", name);
    std::puts("");
    return 1;
}

}  // namespace

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
    if (choice == "speed") return measure(argc > 2 ? argv[2] : "");
    return sdpa_test::check_neighborhoods_on_gpu(std::strtoull(choice.c_str(), nullptr, 10)) == 0 ? 0 : 1;
}
