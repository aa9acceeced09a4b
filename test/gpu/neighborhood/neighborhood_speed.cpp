#include "gpu/neighborhood/neighborhood_speed.h"

#include "gpu/device_bytes.h"
#include "gpu/device_mirror.h"
#include "gpu/neighborhood/neighborhood_engines.h"

#include <cudnn_frontend/graph.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa_test {
namespace {

namespace fe = cudnn_frontend;
using Dims = std::vector<std::int64_t>;

constexpr int kRounds = 15;

// --- Shapes

struct Shape {
    char const* name;
    std::int64_t batches, heads, columns;
    Dims space, kernel;
    std::int64_t dilation = 1;  // along each axis

    // The rows of all batch entries and heads.
    double rows() const {
        auto count = static_cast<double>(batches * heads);
        for (std::int64_t const length : space) count *= static_cast<double>(length);
        return count;
    }
    double pairs() const {
        double count = rows();
        for (std::int64_t const length : kernel) count *= static_cast<double>(length);
        return count;
    }
    Dims tokens() const {
        Dims dims{batches};
        dims.insert(dims.end(), space.begin(), space.end());
        dims.push_back(heads);
        return dims;
    }
};

std::vector<Shape> const& shapes() {
    static std::vector<Shape> const all{{"1d 16384 k=257 d=64", 2, 16, 64, {16384}, {257}},
                                        {"1d 16384 k=2049 d=64", 2, 16, 64, {16384}, {2049}},
                                        {"1d 16384 k=257 dilation 8 d=64", 2, 16, 64, {16384}, {257}, 8},
                                        {"2d 64x64 k=7 d=64", 8, 12, 64, {64, 64}, {7, 7}},
                                        {"2d 64x64 k=31 d=64", 8, 12, 64, {64, 64}, {31, 31}},
                                        {"2d 64x64 k=7 dilation 4 d=64", 8, 12, 64, {64, 64}, {7, 7}, 4},
                                        {"2d 128x128 k=13 d=128", 2, 16, 128, {128, 128}, {13, 13}},
                                        {"3d 16x32x32 k=7 d=128", 1, 24, 128, {16, 32, 32}, {7, 7, 7}},
                                        {"3d 16x32x32 k=15 d=128", 1, 24, 128, {16, 32, 32}, {15, 15, 15}}};
    return all;
}

// --- Memory

enum Place { Q, K, V, O, Stats, DO, DQ, DK, DV, Count };

// Backward reads forward's results.
class Tensors {
   public:
    explicit Tensors(Shape const& shape) {
        std::vector<std::uint16_t> const numbers = random_numbers();
        for (int place = 0; place < Place::Count; ++place) {
            std::size_t const bytes = bytes_of(shape, static_cast<Place>(place));
            memory_.push_back(std::make_unique<DeviceBytes>(bytes));
            for (std::size_t at = 0; at < bytes; at += numbers.size() * 2) {
                std::size_t const part = std::min(bytes - at, numbers.size() * 2);
                cudaMemcpy(memory_.back()->get() + at, numbers.data(), part, cudaMemcpyHostToDevice);
            }
        }
    }
    void* at(Place place) const { return memory_[place]->get(); }

    static std::size_t bytes_of(Shape const& shape, Place place) {
        auto const rows = static_cast<std::size_t>(shape.rows());
        return place == Place::Stats ? rows * 4 : rows * static_cast<std::size_t>(shape.columns) * 2;
    }

   private:
    // BFLOAT16 from -1 to 1: equal numbers would cost less power, and run at a higher clock.
    static std::vector<std::uint16_t> random_numbers() {
        std::vector<std::uint16_t> numbers((1 << 20) - 7);
        std::uint32_t state = 1;
        for (std::uint16_t& number : numbers) {
            state = state * 1664525 + 1013904223;
            float const value = static_cast<float>(state >> 8) * 0x1p-23f - 1.0f;
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            number = static_cast<std::uint16_t>(bits >> 16);
        }
        return numbers;
    }

    std::vector<std::unique_ptr<DeviceBytes>> memory_;
};

// --- Graphs

// A fused function of the shape, over those of its tensors that it reads and writes.
class FusedGraph {
   public:
    FusedGraph(Shape const& shape, bool is_backward) : shape_(shape) {
        graph_.set_io_data_type(fe::DataType_t::BFLOAT16);
        if (is_backward) add_backward();
        else add_forward();
    }
    Graph& graph() { return graph_; }

    std::map<std::int64_t, void*> pack(Tensors const& tensors) const {
        std::map<std::int64_t, void*> pack;
        for (Place const place : places_) pack[place] = tensors.at(place);
        return pack;
    }
    // The bytes that have to be read or written.
    double bytes() const {
        double sum = 0;
        for (Place const place : places_) sum += static_cast<double>(Tensors::bytes_of(shape_, place));
        return sum;
    }

   private:
    void add_forward() {
        auto const results =
            graph_.neighborhood_attention(input(Place::Q), input(Place::K), input(Place::V),
                                          windows<fe::graph::Neighborhood_attributes>().set_generate_stats(true));
        output(results[0], Place::O);
        output(results[1], Place::Stats);
    }
    void add_backward() {
        auto const results = graph_.neighborhood_attention_backward(
            input(Place::Q), input(Place::K), input(Place::V), input(Place::O), input(Place::DO), input(Place::Stats),
            windows<fe::graph::Neighborhood_backward_attributes>());
        output(results[0], Place::DQ);
        output(results[1], Place::DK);
        output(results[2], Place::DV);
    }
    template <class Attributes>
    Attributes windows() const {
        return Attributes().set_kernel_size(shape_.kernel).set_dilation(Dims(shape_.space.size(), shape_.dilation));
    }
    TensorPtr input(Place place) {
        auto const tensor = graph_.tensor(fe::graph::Tensor_attributes());
        describe(tensor, place);
        return tensor;
    }
    void output(TensorPtr const& tensor, Place place) {
        describe(tensor, place);
        tensor->set_output(true);
    }
    void describe(TensorPtr const& tensor, Place place) {
        Dims dim = shape_.tokens();
        if (place != Place::Stats) dim.push_back(shape_.columns);
        Dims stride(dim.size(), 1);
        for (std::size_t i = dim.size() - 1; i > 0; --i) stride[i - 1] = stride[i] * dim[i];
        tensor->set_uid(place).set_dim(dim).set_stride(stride);
        if (place == Place::Stats) tensor->set_data_type(fe::DataType_t::FLOAT);
        places_.push_back(place);
    }

    Shape const& shape_;
    Graph graph_;
    std::vector<Place> places_;
};

// --- Times

// The time over rounds that each run the work once.
template <class Work>
double median_microseconds(cudaStream_t stream, Work const& work) {
    std::vector<float> times;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int round = -3; round < kRounds; ++round) {
        cudaEventRecord(begin, stream);
        work();
        cudaEventRecord(end, stream);
        cudaEventSynchronize(end);
        float milliseconds = 0;
        cudaEventElapsedTime(&milliseconds, begin, end);
        if (round >= 0) times.push_back(milliseconds);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    std::ranges::nth_element(times, times.begin() + kRounds / 2);
    return double{times[kRounds / 2]} * 1000;
}

// The vendor's figures: dense products of BFLOAT16, and memory.
struct Peaks {
    std::string_view part_of_name;
    double tera_flops, tera_bytes;
};
constexpr std::array kPeaks = {Peaks{"H200", 989, 4.8}, Peaks{"H100", 989, 3.35}};

// The least time that the GPU could take, as text next to the measured time; empty where its peaks are not known.
std::string share_of_roofline(double flops, double bytes, double microseconds) {
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    auto const peaks = std::ranges::find_if(kPeaks, [&](Peaks const& known) {
        return std::string_view(properties.name).find(known.part_of_name) != std::string_view::npos;
    });
    if (peaks == kPeaks.end()) return "";
    double const least = std::max(flops / peaks->tera_flops, bytes / peaks->tera_bytes) / 1e6;
    return std::to_string(std::lround(100 * least / microseconds)) + " % of the roofline";
}

// --- Rows of the table

// The engine that runs a row: the first one of all, the first one that is a kernel of the library's, or a named one of
// these.
struct Choice {
    bool is_program = true;
    std::string engine = {};

    void apply(Graph& graph) const {
        if (!is_program) graph.set_rewrites(fe::RewritePolicy_t::OFF);
        if (!engine.empty()) graph.deselect_engines(neighborhood_engines_but(engine));
    }
};

fe::error_t measure(Shape const& shape, bool is_backward, Choice const& choice, Tensors const& tensors,
                    GpuStream const& gpu) {
    FusedGraph made(shape, is_backward);
    Graph& graph = made.graph();
    choice.apply(graph);
    std::string plan;
    if (auto const error = graph.build(Target::cuda(gpu.handle())); error.is_bad()) return error;
    if (auto const error = graph.get_plan_name(plan); error.is_bad()) return error;
    DeviceBytes const workspace(static_cast<std::size_t>(std::max<std::int64_t>(1, graph.get_workspace_size())));
    auto const pack = made.pack(tensors);
    fe::error_t status;
    double const time = median_microseconds(gpu.stream(), [&] {
        if (status.is_good()) status = graph.execute(gpu.handle(), pack, workspace.get());
    });
    if (status.is_good()) status = gpu.wait();
    if (status.is_bad()) return status;
    // Two products of a query and a key, of a row each, in forward, and five in backward.
    double const flops = shape.pairs() * 2 * static_cast<double>(shape.columns) * (is_backward ? 5 : 2);
    std::printf("%-32s %-8s %9.0f us %7.1f useful TFLOP/s  %-22s %s\n", shape.name,
                is_backward ? "backward" : "forward", time, flops / time / 1e6,
                share_of_roofline(flops, made.bytes(), time).c_str(), plan.c_str());
    std::fflush(stdout);
    return {};
}

// Forward and backward; says how many could not be run.
int measure_both(Shape const& shape, Choice const& choice, Tensors const& tensors, GpuStream const& gpu) {
    int failures = 0;
    for (bool const is_backward : {false, true}) {
        fe::error_t const error = measure(shape, is_backward, choice, tensors, gpu);
        if (error.is_good()) continue;
        std::printf("%-32s %s: %s\n", shape.name, is_backward ? "backward" : "forward", error.err_msg.c_str());
        ++failures;
    }
    return failures;
}

}  // namespace

int measure_neighborhoods(std::string const& engine) {
    GpuStream const gpu;
    if (gpu.status().is_bad()) {
        std::puts(gpu.status().err_msg.c_str());
        return 1;
    }
    int failures = 0;
    for (Shape const& shape : shapes()) {
        Tensors const tensors(shape);
        failures += measure_both(shape, {}, tensors, gpu);
        bool const may_be_program = shape.space.size() == 1;
        if (may_be_program) failures += measure_both(shape, {.is_program = false}, tensors, gpu);
        if (!engine.empty()) failures += measure_both(shape, {false, engine}, tensors, gpu);
    }
    return failures;
}

}  // namespace sdpa_test
