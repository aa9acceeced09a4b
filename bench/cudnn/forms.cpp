// Forward attention lowered as primitive operations (COMPOSITE) and as one (UNIFIED): the GPU's time of each,
// over a grid of shapes.
//   bench_cudnn_forms [seconds]   stops after this time, by default 110 seconds, and says how much is left out
// Each form's runs are captured into a CUDA graph, so that launching costs nothing; the two take turns. Medians.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using Form = fe::AttentionImplementation_t;
using Dims = std::vector<std::int64_t>;

struct Shape {
    std::int64_t b, h_q, h_k, s_q, s_kv, d;
    bool padding;
};

struct Gpu {
    cudaStream_t stream = nullptr;
    cudnnHandle_t handle = nullptr;
};

enum Uid : std::int64_t { Q = 1, K, V, O, Queries, Keys, Count };

using Pack = std::map<std::int64_t, void*>;

bool good(fe::error_t const& error) {
    if (error.is_bad()) std::printf("%s\n", error.get_message().c_str());
    return error.is_good();
}

bool good(cudaError_t status) {
    if (status != cudaSuccess) std::printf("CUDA: %s\n", cudaGetErrorString(status));
    return status == cudaSuccess;
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

std::vector<Shape> grid() {
    constexpr std::int64_t kHeads[][2] = {{64, 8}, {32, 32}};
    std::vector<Shape> shapes;
    for (bool const padding : {false, true})
        for (std::int64_t const b : {1, 8})
            for (auto const& [h_q, h_k] : kHeads)
                for (std::int64_t const d : {64, 128})
                    for (std::int64_t const s_kv : {1024, 4096, 16384, 65536})
                        for (std::int64_t const s_q : {1, 2, 4, 8, 16, 64, 256, 1024})
                            shapes.push_back({b, h_q, h_k, s_q, s_kv, d, padding});
    return shapes;
}

void describe(fe::graph::Graph& graph, Shape const& shape, Form form) {
    graph.set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    // BSHD: the heads of a row are adjacent.
    auto const strides = [](Dims const& dim) { return Dims{dim[2] * dim[1] * dim[3], dim[3], dim[1] * dim[3], 1}; };
    auto const input = [&](char const* name, Uid uid, Dims const& dim) {
        return graph.tensor(
            fe::graph::Tensor_attributes().set_name(name).set_uid(uid).set_dim(dim).set_stride(strides(dim)));
    };
    Dims const of_queries{shape.b, shape.h_q, shape.s_q, shape.d}, of_keys{shape.b, shape.h_k, shape.s_kv, shape.d};
    auto options = fe::graph::SDPA_attributes().set_name("sdpa").set_attn_scale(0.09f).set_generate_stats(false);
    options.set_implementation(form);
    if (shape.padding) {
        auto const lengths = [&](char const* name, Uid uid) {
            auto const tensor = input(name, uid, {shape.b, 1, 1, 1});
            tensor->set_data_type(fe::DataType_t::INT32);
            return tensor;
        };
        options.set_padding_mask(true)
            .set_seq_len_q(lengths("queries", Uid::Queries))
            .set_seq_len_kv(lengths("keys", Uid::Keys));
    }
    auto const o = graph.sdpa(input("Q", Uid::Q, of_queries), input("K", Uid::K, of_keys), input("V", Uid::V, of_keys),
                              options)[0];
    o->set_output(true).set_uid(Uid::O).set_dim(of_queries).set_stride(strides(of_queries));
}

// Several runs of a plan in sequence, as one launch.
class Runs {
   public:
    static constexpr int kCount = 10;
    static constexpr std::int64_t kWorkspaceBytes = std::int64_t{1} << 30;

    Runs(Gpu const& gpu, Shape const& shape, Form form, Pack const& pack, void* workspace) : gpu_(gpu) {
        fe::graph::Graph graph;
        describe(graph, shape, form);
        if (!good(graph.build(fe::Target::cuda(gpu.handle))) || !good(graph.get_plan_name(plan_))) return;
        if (graph.get_workspace_size() > kWorkspaceBytes) return;
        if (!good(graph.execute(gpu.handle, pack, workspace)) || !good(cudaStreamSynchronize(gpu.stream))) return;
        cudaGraph_t captured = nullptr;
        bool is_good = good(cudaStreamBeginCapture(gpu.stream, cudaStreamCaptureModeThreadLocal));
        for (int i = 0; is_good && i < kCount; ++i) is_good = good(graph.execute(gpu.handle, pack, workspace));
        is_good = good(cudaStreamEndCapture(gpu.stream, &captured)) && is_good;
        if (is_good && !good(cudaGraphInstantiate(&replay_, captured, 0))) replay_ = nullptr;
        if (captured != nullptr) cudaGraphDestroy(captured);
    }
    ~Runs() {
        if (replay_ != nullptr) cudaGraphExecDestroy(replay_);
    }
    Runs(Runs const&) = delete;
    Runs& operator=(Runs const&) = delete;

    bool are_ready() const { return replay_ != nullptr; }
    std::string const& plan() const { return plan_; }
    std::vector<double> const& times() const { return times_; }

    // Microseconds of one run.
    bool sample(cudaEvent_t begin, cudaEvent_t end) {
        cudaEventRecord(begin, gpu_.stream);
        bool const is_good = good(cudaGraphLaunch(replay_, gpu_.stream));
        cudaEventRecord(end, gpu_.stream);
        float milliseconds = 0;
        if (!is_good || !good(cudaEventSynchronize(end)) || !good(cudaEventElapsedTime(&milliseconds, begin, end)))
            return false;
        times_.push_back(double{milliseconds} * 1000.0 / kCount);
        return true;
    }

   private:
    Gpu const& gpu_;
    cudaGraphExec_t replay_ = nullptr;
    std::string plan_;
    std::vector<double> times_;
};

struct Times {
    double composite, unified;
    std::string composite_plan, unified_plan;
};

// Empty if a form has no plan, which was reported, or does not run.
std::optional<Times> measure(Gpu const& gpu, Shape const& shape, Pack const& pack, void* workspace) {
    constexpr int kRounds = 11;
    Runs composite(gpu, shape, Form::COMPOSITE, pack, workspace), unified(gpu, shape, Form::UNIFIED, pack, workspace);
    if (!composite.are_ready() || !unified.are_ready()) return std::nullopt;
    static cudaEvent_t const begin = [] {
        cudaEvent_t event = nullptr;
        cudaEventCreate(&event);
        return event;
    }();
    static cudaEvent_t const end = [] {
        cudaEvent_t event = nullptr;
        cudaEventCreate(&event);
        return event;
    }();
    for (int round = 0; round < kRounds; ++round) {
        Runs& first = round % 2 == 0 ? composite : unified;
        Runs& second = round % 2 == 0 ? unified : composite;
        if (!first.sample(begin, end) || !second.sample(begin, end)) return std::nullopt;
    }
    return Times{median(composite.times()), median(unified.times()), composite.plan(), unified.plan()};
}

// Memory for the largest shape of the grid, with full lengths.
class Memory {
   public:
    explicit Memory(std::vector<Shape> const& shapes) {
        std::int64_t queries = 0, keys = 0;
        for (Shape const& shape : shapes) {
            queries = std::max(queries, shape.b * shape.h_q * shape.s_q * shape.d);
            keys = std::max(keys, shape.b * shape.h_k * shape.s_kv * shape.d);
        }
        constexpr std::int64_t kBytes = 2;
        for (auto const [uid, count] :
             {std::pair{Uid::Q, queries}, {Uid::K, keys}, {Uid::V, keys}, {Uid::O, queries}}) {
            pack_[uid] = allocate(count * kBytes);
        }
        for (Uid const uid : {Uid::Queries, Uid::Keys}) pack_[uid] = allocate(8 * 4);
        workspace_ = allocate(Runs::kWorkspaceBytes);
    }
    ~Memory() {
        for (void* const block : blocks_) cudaFree(block);
    }
    Memory(Memory const&) = delete;
    Memory& operator=(Memory const&) = delete;

    bool is_good() const { return is_good_; }
    Pack const& pack() const { return pack_; }
    void* workspace() const { return workspace_; }
    bool set_lengths(Shape const& shape) {
        for (auto const [uid, length] : {std::pair{Uid::Queries, shape.s_q}, {Uid::Keys, shape.s_kv}}) {
            std::vector<std::int32_t> const lengths(8, static_cast<std::int32_t>(length));
            if (!good(cudaMemcpy(pack_[uid], lengths.data(), 8 * 4, cudaMemcpyHostToDevice))) return false;
        }
        return good(cudaDeviceSynchronize());
    }

   private:
    void* allocate(std::int64_t bytes) {
        void* block = nullptr;
        is_good_ = is_good_ && good(cudaMalloc(&block, static_cast<std::size_t>(bytes))) &&
                   good(cudaMemset(block, 0x3c, static_cast<std::size_t>(bytes)));  // small numbers, not zeros
        if (block != nullptr) blocks_.push_back(block);
        return block;
    }

    bool is_good_ = true;
    Pack pack_;
    void* workspace_ = nullptr;
    std::vector<void*> blocks_;
};

// Prints the ratios over all heads, dims and batches, by queries and keys.
void summarize(std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> const& ratios) {
    std::puts("\nunified over composite, by keys and queries: least, median, most");
    for (auto const& [of, values] : ratios) {
        auto const [least, most] = std::minmax_element(values.begin(), values.end());
        std::printf("keys %6lld queries %5lld   %.3f %.3f %.3f of %zu\n", static_cast<long long>(of.first),
                    static_cast<long long>(of.second), *least, median(values), *most, values.size());
    }
}

int measure_grid(Gpu const& gpu, double seconds) {
    std::vector<Shape> const shapes = grid();
    Memory memory(shapes);
    if (!memory.is_good()) return 1;
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<double>> ratios;
    auto const start = std::chrono::steady_clock::now();
    std::size_t done = 0, failed = 0;
    std::printf("%4s %6s %4s %5s %7s %8s %11s %9s %6s  plans\n", "b", "heads", "d", "pads", "keys", "queries",
                "composite", "unified", "ratio");
    for (; done < shapes.size(); ++done) {
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
        Shape const& shape = shapes[done];
        if (shape.padding && !memory.set_lengths(shape)) return 1;
        auto const times = measure(gpu, shape, memory.pack(), memory.workspace());
        std::printf("%4lld %3lld/%-2lld %4lld %5s %7lld %8lld ", static_cast<long long>(shape.b),
                    static_cast<long long>(shape.h_q), static_cast<long long>(shape.h_k),
                    static_cast<long long>(shape.d), shape.padding ? "yes" : "no", static_cast<long long>(shape.s_kv),
                    static_cast<long long>(shape.s_q));
        if (!times) {
            std::puts("FAILED");
            ++failed;
            continue;
        }
        std::printf("%11.2f %9.2f %6.3f  %s %s\n", times->composite, times->unified, times->unified / times->composite,
                    times->composite_plan.c_str(), times->unified_plan.c_str());
        ratios[{shape.s_kv, shape.s_q}].push_back(times->unified / times->composite);
    }
    if (!ratios.empty()) summarize(ratios);
    std::printf("%zu shapes measured, %zu failed, %zu left out\n", done - failed, failed, shapes.size() - done);
    return failed == 0 && !ratios.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    Gpu gpu;
    if (!good(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking))) return 1;
    if (!good(fe::runtime::create_handle(&gpu.handle)) || !good(fe::runtime::set_stream(gpu.handle, gpu.stream)))
        return 1;
    cudaDeviceProp properties{};
    cudaGetDeviceProperties(&properties, 0);
    std::printf("%s, cuDNN %zu; microseconds on the GPU\n", properties.name, fe::runtime::cudnn_version());
    return measure_grid(gpu, argc > 1 ? std::atof(argv[1]) : 110.0);
}
