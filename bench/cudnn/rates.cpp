// Prints the costs of attention on this GPU, as the lines of a file of devices/rates; docs/rewrites.md says how they
// are used. Each figure is a time of a graph whose number of tiles is known.
#include "gpu_attention.h"

#include <cudnn_frontend/runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
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

// One block for each of a few heads, which processes the tiles of keys one after the other.
double forward_tile(Gpu const& gpu, std::int64_t d, double start) {
    constexpr std::int64_t kKeys = 65536;
    return (time_of(gpu, {"forward", fe::Rewrite_t::FEW_QUERIES, 1, 8, 8, 128, kKeys, d}) - start) / (kKeys / 128.0);
}

// Enough tiles for all multiprocessors, with the mask of a band, in which engines skip no tiles.
double backward_tile(Gpu const& gpu, std::int64_t d, int multiprocessors) {
    constexpr std::int64_t kHeads = 64, kRows = 8192, kTiles = kHeads * (kRows / 128) * (kRows / 128);
    Row const row{"backward", fe::Rewrite_t::BANDS, 1, kHeads, kHeads, kRows, kRows, d, false, false, 65, 64};
    return time_of(gpu, row) / std::ceil(static_cast<double>(kTiles) / multiprocessors);
}

// A kernel's time without that of its tiles: twice as many tiles take less than twice the time.
double start_of_kernels(Gpu const& gpu) {
    constexpr std::int64_t kKeys = 4096;
    double const once = time_of(gpu, {"start", fe::Rewrite_t::FEW_QUERIES, 1, 8, 8, 128, kKeys, 128});
    return 2.0 * once - time_of(gpu, {"start", fe::Rewrite_t::FEW_QUERIES, 1, 8, 8, 128, 2 * kKeys, 128});
}

// Costs that are measured first, and subtracted from further times.
struct Basics {
    double start, bandwidth;
    int multiprocessors;
};

// Backward with head dims of 192 and 128, which has engines of its own, as is or by the deterministic algorithm: what a
// tile takes beyond the starts of kernels and what moves tensors. With scores in memory dQ is not accumulated there.
double backward_192_128_tile(Gpu const& gpu, Basics const& basics, bool is_deterministic) {
    constexpr std::int64_t kBatches = 4, kHeads = 16, kRows = 2048,
                           kTiles = kBatches * kHeads * (kRows / 128) * (kRows / 128);
    fe::Rewrite_t const rewrite = is_deterministic ? fe::Rewrite_t::SLICES : fe::Rewrite_t::BANDS;
    Row row{"backward 192, 128", rewrite, kBatches, kHeads, kHeads, kRows, kRows, 192};
    row.d_v = 128;
    double const pair = 2.0 * kBatches * kHeads * kRows * (192 + 128), moved = (is_deterministic ? 4.0 : 8.0) * pair;
    double const rounds = std::ceil(static_cast<double>(kTiles) / basics.multiprocessors);
    return (time_of(gpu, row) - 3.0 * basics.start - moved / basics.bandwidth) / rounds;
}

// The library's own kernels for neighborhood attention. A block has a tile of this many tokens. Backward has this many
// kernels, some of which pass over rows and move this many bytes for each column of a token.
struct Form {
    char const* engine;
    std::int64_t tokens;
    double backward_kernels, backward_bytes;
};
constexpr Form kForms[] = {{"neighborhood_tiles", 64, 2.0, 0.0}, {"neighborhood_warpgroups", 128, 3.0, 14.0}};

// The engine's index among the candidates; nothing where the GPU does not have the engine.
std::optional<std::int64_t> index_of(fe::graph::Graph const& graph, std::string const& engine) {
    for (std::int64_t i = 0; i < graph.get_execution_plan_count(); ++i) {
        std::string name;
        if (good(graph.get_plan_name_at_index(i, name), "name") && name == engine) return i;
    }
    return std::nullopt;
}

bool plan(Gpu const& gpu, fe::graph::Graph& graph, std::string const& engine) {
    bool const has_candidates = good(graph.validate(), "graph") &&
                                good(graph.build_operation_graph(gpu.target()), "operation graph") &&
                                good(graph.create_execution_plans({fe::HeurMode_t::A}), "candidates");
    if (!has_candidates) return false;
    auto const index = index_of(graph, engine);
    return index && good(graph.build_plan_at_index(*index), engine.c_str());
}

// One pass of a form, along lines with enough tokens for all multiprocessors.
class NeighborhoodPass {
   public:
    NeighborhoodPass(Gpu const& gpu, Basics const& basics, Form const& form, bool is_forward)
        : gpu_(gpu), basics_(basics), form_(form), is_forward_(is_forward) {}

    // Prints nothing where the GPU does not run it.
    void print() const {
        Stage const narrow = stage_of(64), wide = stage_of(128);
        if (narrow.time <= 0.0 || wide.time <= 0.0) return;
        std::string const name = std::string(form_.engine) + (is_forward_ ? "_forward" : "_backward");
        // Figures must be above 0, and times are inexact: a form may take more than twice as long for twice the
        // columns.
        double const rise = (wide.time - narrow.time) / 64.0;
        double const mean = (narrow.time / 64.0 + wide.time / 128.0) / 2.0;
        double const width = std::min(rise, mean), extra = (narrow.extra + wide.extra) / 2.0;
        std::printf("%s_stage %.4g\n", name.c_str(), std::max(1e-3, narrow.time - 64.0 * width));
        std::printf("%s_width %.4g\n", name.c_str(), width);
        std::printf("%s_extra %.3g\n", name.c_str(), std::max(0.1, extra));
    }

   private:
    // A stage's time on a multiprocessor, and the time of the rest of a block as a number of stages.
    struct Stage {
        double time, extra;
    };

    // Additional stages give the time of one. The time of a few, minus the stages' own, is the rest.
    Stage stage_of(std::int64_t d) const {
        constexpr std::int64_t kFewer = 5, kMore = 17;
        double const few = time_of_stages(d, kFewer), many = time_of_stages(d, kMore);
        if (few <= 0.0 || many <= 0.0) return {};
        double const rounds = std::ceil(static_cast<double>(kHeads * kTokens / form_.tokens) / basics_.multiprocessors);
        double const time = (many - few) / (rounds * static_cast<double>(kMore - kFewer));
        return {time, (few - time_beside_tiles(d)) / (rounds * time) - static_cast<double>(kFewer)};
    }

    // The time with a kernel size at which this many stages of 64 rows are visible to a tile.
    double time_of_stages(std::int64_t d, std::int64_t stages) const {
        std::int64_t const kernel = stages * 64 - form_.tokens + 1;
        Row const row = neighborhood_row(form_.engine, is_forward_, {1, kHeads, kTokens, d}, kernel);
        Buffers const buffers(row);
        if (!is_forward_ && !gpu_.prepare_backward(row, buffers.pack())) return 0.0;
        fe::graph::Graph graph;
        describe(row, graph);
        graph.set_rewrites(fe::RewritePolicy_t::OFF);
        return plan(gpu_, graph, form_.engine) ? gpu_.time(graph, buffers.pack()) : 0.0;
    }

    double time_beside_tiles(std::int64_t d) const {
        if (is_forward_) return basics_.start;
        double const moved = form_.backward_bytes * static_cast<double>(kHeads * kTokens * d);
        return form_.backward_kernels * basics_.start + moved / basics_.bandwidth;
    }

    static constexpr std::int64_t kHeads = 32, kTokens = 8192;

    Gpu const& gpu_;
    Basics basics_;
    Form form_;
    bool is_forward_;
};

// A class of columns of the library's own attention engine, and the rows of its tiles and of their blocks.
struct AttentionClass {
    std::int64_t columns, value_columns;
    std::int64_t queries, keys;                    // of a tile of forward, and of its blocks
    std::int64_t gradient_keys, gradient_queries;  // the same for gradients
};
constexpr AttentionClass kClasses[] = {{64, 64, 192, 128, 128, 128},
                                       {128, 128, 128, 128, 128, 64},
                                       {192, 128, 128, 128, 128, 64},
                                       {256, 256, 128, 80, 64, 64}};

// One pass of the engine without a mask. There are as many heads as multiprocessors, so that each multiprocessor has
// the tiles of one head.
class AttentionPass {
   public:
    AttentionPass(Gpu const& gpu, Basics const& basics, AttentionClass const& of_columns, char const* name)
        : gpu_(gpu), basics_(basics), class_(of_columns), name_(name) {}

    // Prints nothing where the GPU does not run it.
    void print() const {
        constexpr std::int64_t kFewer = 2048, kMore = 4096;
        double const few = time_of_tile(kFewer), many = time_of_tile(kMore);
        if (few <= 0.0 || many <= few) return;
        double const block = (many - few) / (blocks(kMore) - blocks(kFewer));
        std::string const name = "attention_" + std::to_string(class_.columns) + "_" + name_;
        std::printf("%s_block %.4g\n%s_extra %.4g\n", name.c_str(), block, name.c_str(),
                    std::max(1e-3, few - blocks(kFewer) * block));
    }

   private:
    static double count(std::int64_t rows, std::int64_t of_each) {
        return std::ceil(static_cast<double>(rows) / static_cast<double>(of_each));
    }
    bool is_forward() const { return name_ == "forward"; }
    double tiles(std::int64_t rows) const { return count(rows, is_forward() ? class_.queries : class_.gradient_keys); }
    double blocks(std::int64_t rows) const { return count(rows, is_forward() ? class_.keys : class_.gradient_queries); }

    double time_of_tile(std::int64_t rows) const {
        constexpr double kKernelsOfGradients = 3.0;
        Row row{name_.c_str(), fe::Rewrite_t::BANDS, 1, basics_.multiprocessors, basics_.multiprocessors, rows,
                rows,          class_.columns};
        row.d_v = class_.value_columns;
        row.deterministic = name_ == "deterministic";
        Buffers const buffers(row);
        if (!is_forward() && !gpu_.prepare_backward(row, buffers.pack())) return 0.0;
        fe::graph::Graph graph;
        describe_pass(row, !is_forward(), graph);
        graph.set_rewrites(fe::RewritePolicy_t::OFF);
        if (!plan(gpu_, graph, "attention")) return 0.0;
        double const starts = (is_forward() ? 1.0 : kKernelsOfGradients) * basics_.start;
        return (gpu_.time(graph, buffers.pack()) - starts) / tiles(rows);
    }

    Gpu const& gpu_;
    Basics basics_;
    AttentionClass class_;
    std::string name_;
};

// How often decode reads the keys of 128 query heads that share one.
double decode_heads(Gpu const& gpu, Basics const& basics) {
    constexpr double kBytes = 2.0 * 128 * 4096 * 256;
    double const time = time_of(gpu, {"decode", fe::Rewrite_t::FEW_QUERIES, 128, 128, 1, 1, 4096, 128});
    return std::round(128.0 / std::max(1.0, (time - basics.start) * basics.bandwidth / kBytes));
}

}  // namespace

int main() {
    cudaDeviceProp device{};
    if (!good(cudaGetDeviceProperties(&device, 0))) return 1;
    Gpu const gpu;
    // Clocks rise under load: the first figure would be that of an idle GPU.
    backward_tile(gpu, 64, device.multiProcessorCount);
    Basics const basics{start_of_kernels(gpu), copy_rate(), device.multiProcessorCount};
    std::size_t const version = fe::runtime::cudnn_version();
    std::printf(
        "# What attention costs on this GPU, for the choice of rewrites. ./run rates prints such a file.\n"
        "# %s, cuDNN %zu.%zu.%zu.\n"
        "# Times in microseconds, sizes in bytes. A tile has 128 queries and 128 keys; its width is the mean of the\n"
        "# head dims of Q and V. A stage of neighborhoods has 64 rows, and the extra is counted in stages.\n"
        "# Attention by the library's own engine, for each class of columns and pass: the time of a block of a tile, "
        "and\n"
        "# that of a tile without its blocks.\n",
        device.name, version / 10000, version / 100 % 100, version % 100);
    std::printf("start %.3g\nbandwidth %.3g\n", basics.start, basics.bandwidth);
    print_tiles("forward", forward_tile(gpu, 64, basics.start), forward_tile(gpu, 128, basics.start));
    print_tiles("backward", backward_tile(gpu, 64, device.multiProcessorCount),
                backward_tile(gpu, 128, device.multiProcessorCount));
    std::printf("backward_192_128_tile %.4g\n", backward_192_128_tile(gpu, basics, false));
    std::printf("backward_192_128_deterministic_tile %.4g\n", backward_192_128_tile(gpu, basics, true));
    std::printf("decode_heads %.0f\n", decode_heads(gpu, basics));
    for (Form const& form : kForms) {
        for (bool const is_forward : {true, false}) NeighborhoodPass(gpu, basics, form, is_forward).print();
    }
    for (AttentionClass const& of_columns : kClasses) {
        for (char const* const pass : {"forward", "backward", "deterministic"})
            AttentionPass(gpu, basics, of_columns, pass).print();
    }
}
