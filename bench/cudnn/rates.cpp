// What attention costs on the GPU that is here, as the lines of a file of devices/rates; docs/performance.md says how
// they are used. Each figure is a time of a graph whose number of tiles is known.
#include "gpu_attention.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace {

using namespace bench;

double time_of(Gpu const& gpu, Row const& row) {
    Buffers const buffers(row);
    if (!row.is_forward() && !gpu.prepare_backward(row, buffers.pack())) return 0.0;
    fe::graph::Graph graph;
    describe(row, graph);
    graph.set_rewrites(fe::RewritePolicy_t::OFF);
    return good(graph.build(gpu.target()), row.name) ? gpu.time(graph, buffers.pack()) : 0.0;
}

// Bytes a microsecond, read and written.
double copy_rate() {
    constexpr std::size_t kBytes = std::size_t{1} << 30;
    Memory const from(kBytes), to(kBytes);
    cudaEvent_t begin = nullptr, end = nullptr;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    float best = 1e30f;
    for (int i = 0; i < 10; ++i) {
        float milliseconds = 0.0f;
        cudaEventRecord(begin);
        good(cudaMemcpyAsync(to.get(), from.get(), kBytes, cudaMemcpyDeviceToDevice));
        cudaEventRecord(end);
        good(cudaEventSynchronize(end));
        cudaEventElapsedTime(&milliseconds, begin, end);
        best = std::min(best, milliseconds);
    }
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return 2.0 * kBytes / (1000.0 * static_cast<double>(best));
}

// A line through the times of a tile at head dims of 64 and 128.
void print_tiles(char const* pass, double at_64, double at_128) {
    double const width = (at_128 - at_64) / 64.0;
    std::printf("%s_tile %.4g\n%s_width %.4g\n", pass, at_64 - 64.0 * width, pass, width);
}

// One block for each of a few heads, which has the keys one tile after the other.
double forward_tile(Gpu const& gpu, std::int64_t d, double start) {
    constexpr std::int64_t kKeys = 65536;
    return (time_of(gpu, {"forward", fe::Rewrite_t::FEW_QUERIES, 1, 8, 8, 128, kKeys, d}) - start) / (kKeys / 128.0);
}

// Enough tiles for all multiprocessors, with a band's mask, of which engines leave out nothing.
double backward_tile(Gpu const& gpu, std::int64_t d, int multiprocessors) {
    constexpr std::int64_t kHeads = 64, kRows = 8192, kTiles = kHeads * (kRows / 128) * (kRows / 128);
    Row const row{"backward", fe::Rewrite_t::BANDS, 1, kHeads, kHeads, kRows, kRows, d, false, false, 65, 64};
    return time_of(gpu, row) / std::ceil(static_cast<double>(kTiles) / multiprocessors);
}

// What is left of a kernel's time when that of its tiles is taken away: twice the tiles take less than twice the time.
double start_of_kernels(Gpu const& gpu) {
    constexpr std::int64_t kKeys = 4096;
    double const once = time_of(gpu, {"start", fe::Rewrite_t::FEW_QUERIES, 1, 8, 8, 128, kKeys, 128});
    return 2.0 * once - time_of(gpu, {"start", fe::Rewrite_t::FEW_QUERIES, 1, 8, 8, 128, 2 * kKeys, 128});
}

// Of the library's own kernels: what more tiles of a block take, where all have tokens enough.
double neighborhood_tile(Gpu const& gpu, bool is_forward, std::int64_t d, int multiprocessors) {
    constexpr std::int64_t kHeads = 32, kTokens = 8192, kTile = 64, kFewer = 4, kMore = 16;
    auto const time = [&](std::int64_t tiles) {
        return time_of(gpu, neighborhood_row("neighborhood", is_forward, {1, kHeads, kTokens, d}, tiles * kTile + 1));
    };
    double const rounds = std::ceil(static_cast<double>(kHeads * kTokens / kTile) / multiprocessors);
    return (time(kMore) - time(kFewer)) / (rounds * static_cast<double>(kMore - kFewer));
}

void print_neighborhood(Gpu const& gpu, char const* pass, bool is_forward, int multiprocessors) {
    print_tiles(pass, neighborhood_tile(gpu, is_forward, 64, multiprocessors),
                neighborhood_tile(gpu, is_forward, 128, multiprocessors));
}

// How often decode reads the keys of 128 query heads that share one.
double decode_heads(Gpu const& gpu, double bandwidth, double start) {
    constexpr double kBytes = 2.0 * 128 * 4096 * 256;
    double const time = time_of(gpu, {"decode", fe::Rewrite_t::FEW_QUERIES, 128, 128, 1, 1, 4096, 128});
    return std::round(128.0 / std::max(1.0, (time - start) * bandwidth / kBytes));
}

}  // namespace

int main() {
    cudaDeviceProp device{};
    if (!good(cudaGetDeviceProperties(&device, 0))) return 1;
    Gpu const gpu;
    // Clocks rise under load: the first figure would be that of an idle GPU.
    backward_tile(gpu, 64, device.multiProcessorCount);
    double const start = start_of_kernels(gpu);
    double const bandwidth = copy_rate();
    std::size_t const version = fe::runtime::cudnn_version();
    std::printf(
        "# What attention costs on this GPU, for the choice of rewrites. ./run rates prints such a file.\n"
        "# %s, cuDNN %zu.%zu.%zu.\n"
        "# Times in microseconds, sizes in bytes; a tile has 128 queries and 128 keys, of neighborhoods 64 of each, "
        "and its\n"
        "# width is the mean of the head dims of Q and V.\n",
        device.name, version / 10000, version / 100 % 100, version % 100);
    std::printf("start %.3g\nbandwidth %.3g\n", start, bandwidth);
    print_tiles("forward", forward_tile(gpu, 64, start), forward_tile(gpu, 128, start));
    print_tiles("backward", backward_tile(gpu, 64, device.multiProcessorCount),
                backward_tile(gpu, 128, device.multiProcessorCount));
    std::printf("decode_heads %.0f\n", decode_heads(gpu, bandwidth, start));
    print_neighborhood(gpu, "neighborhood_forward", true, device.multiProcessorCount);
    print_neighborhood(gpu, "neighborhood_backward", false, device.multiProcessorCount);
}
