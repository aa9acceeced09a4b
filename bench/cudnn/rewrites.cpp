// Graphs as they are given beside the same graphs rewritten as programs: the GPU's time of each, and how far their
// results differ.
//   bench_cudnn_rewrites [part of a row's name]
//   bench_cudnn_rewrites --offline <device>   plans only, without a GPU
// The two take turns; medians. Times include merges, sums and borders.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using fe::Rewrite_t;
using fe::Target;
using Dims = std::vector<std::int64_t>;
using TensorPtr = std::shared_ptr<fe::graph::Tensor_attributes>;

struct Row {
    char const* name;
    Rewrite_t rewrite;
    std::int64_t b, h_q, h_k, s_q, s_kv, d;
    bool rows_first = false;  // BSHD in place of BHSD
    bool causal = false;
    std::int64_t left = 0, right = -1;  // a band from 1 on
    std::int64_t workspace = 0;         // the limit, for slices
};

std::vector<Row> rows() {
    constexpr Rewrite_t kFew = Rewrite_t::FEW_QUERIES, kBands = Rewrite_t::BANDS, kSlices = Rewrite_t::SLICES;
    std::int64_t const gib = std::int64_t{1} << 30;
    return {{"few 2 x 64k", kFew, 1, 64, 8, 2, 65536, 128},
            {"few 8 x 64k", kFew, 1, 64, 8, 8, 65536, 128},
            {"few 16 x 64k", kFew, 1, 64, 8, 16, 65536, 128},
            {"few 8 x 64k, rows first", kFew, 1, 64, 8, 8, 65536, 128, true},
            {"few 8 x 64k, causal", kFew, 1, 64, 8, 8, 65536, 128, false, true},
            {"few 512 x 32k", kFew, 1, 8, 8, 512, 32768, 128},
            {"few 4 x 4k, b=64", kFew, 64, 32, 8, 4, 4096, 128},
            {"few 4 x 4k, b=64, rows first", kFew, 64, 32, 8, 4, 4096, 128, true},
            {"few 4 x 8k, b=16", kFew, 16, 32, 8, 4, 8192, 128},
            {"few 2 x 8k, b=8, 128/1", kFew, 8, 128, 1, 2, 8192, 128},
            {"few 1 x 4k, b=128, 128/1", kFew, 128, 128, 1, 1, 4096, 128},
            {"band 64, b=16, 8k", kBands, 16, 12, 12, 8192, 8192, 64, false, false, 65, 64},
            {"band 128, b=2, 16k", kBands, 2, 16, 16, 16384, 16384, 64, false, false, 129, 128},
            {"band 512, 32k", kBands, 1, 32, 8, 32768, 32768, 128, false, false, 513, 512},
            {"slices 8k, 2.1 GiB", kSlices, 1, 64, 8, 8192, 8192, 128, false, true, 0, -1, 21 * gib / 10},
            {"slices 32k, 4.5 GiB", kSlices, 1, 64, 8, 32768, 32768, 128, false, true, 0, -1, 45 * gib / 10}};
}

enum Uid : std::int64_t { kQ = 1, kK, kV, kO, kStats, kDO, kDQ, kDK, kDV };
using Pack = std::map<std::int64_t, void*>;

bool good(fe::error_t const& error, char const* where) {
    if (error.is_bad()) std::printf("  %s: %s\n", where, error.get_message().c_str());
    return error.is_good();
}

bool good(cudaError_t status) {
    if (status != cudaSuccess) std::printf("  CUDA: %s\n", cudaGetErrorString(status));
    return status == cudaSuccess;
}

Dims dims_of(Row const& row, Uid uid) {
    bool const has_keys = uid == kK || uid == kV || uid == kDK || uid == kDV;
    if (uid == kStats) return {row.b, row.h_q, row.s_q, 1};
    return {row.b, has_keys ? row.h_k : row.h_q, has_keys ? row.s_kv : row.s_q, row.d};
}

Dims strides_of(Row const& row, Uid uid) {
    Dims const dim = dims_of(row, uid);
    if (row.rows_first && uid != kStats) return {dim[2] * dim[1] * dim[3], dim[3], dim[1] * dim[3], 1};
    return {dim[1] * dim[2] * dim[3], dim[2] * dim[3], dim[3], 1};
}

std::size_t bytes_of(Row const& row, Uid uid) {
    std::int64_t elements = 1;
    for (std::int64_t const size : dims_of(row, uid)) elements *= size;
    return static_cast<std::size_t>(elements) * (uid == kStats ? 4 : 2);
}

class Description {
   public:
    Description(Row const& row, fe::graph::Graph& graph) : row_(row), graph_(graph) {
        graph.set_io_data_type(fe::DataType_t::BFLOAT16)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
    }

    void forward(bool has_stats) {
        auto options =
            fe::graph::SDPA_attributes().set_name("sdpa").set_attn_scale(scale()).set_generate_stats(has_stats);
        mask(options);
        auto const [o, stats] = graph_.sdpa(input(kQ), input(kK), input(kV), options);
        output(o, kO);
        if (stats) output(stats, kStats).set_data_type(fe::DataType_t::FLOAT);
    }

    void backward() {
        auto options = fe::graph::SDPA_backward_attributes().set_name("sdpa").set_attn_scale(scale());
        options.set_deterministic_algorithm(row_.rewrite == Rewrite_t::SLICES);
        mask(options);
        auto const stats = input(kStats);
        stats->set_data_type(fe::DataType_t::FLOAT);
        auto const [dq, dk, dv] =
            graph_.sdpa_backward(input(kQ), input(kK), input(kV), input(kO), input(kDO), stats, options);
        output(dq, kDQ), output(dk, kDK), output(dv, kDV);
    }

   private:
    float scale() const { return 1.0f / std::sqrt(static_cast<float>(row_.d)); }

    TensorPtr input(Uid uid) {
        return graph_.tensor(fe::graph::Tensor_attributes()
                                 .set_name(std::to_string(uid))
                                 .set_uid(uid)
                                 .set_dim(dims_of(row_, uid))
                                 .set_stride(strides_of(row_, uid)));
    }

    fe::graph::Tensor_attributes& output(TensorPtr const& tensor, Uid uid) {
        return tensor->set_output(true).set_uid(uid).set_dim(dims_of(row_, uid)).set_stride(strides_of(row_, uid));
    }

    template <class Options>
    void mask(Options& options) {
        if (row_.causal) {
            options.set_diagonal_alignment(fe::DiagonalAlignment_t::BOTTOM_RIGHT).set_diagonal_band_right_bound(0);
        }
        if (row_.left == 0) return;
        options.set_diagonal_band_left_bound(row_.left).set_diagonal_band_right_bound(row_.right);
    }

    Row const& row_;
    fe::graph::Graph& graph_;
};

void describe(Row const& row, fe::graph::Graph& graph) {
    Description description(row, graph);
    if (row.rewrite == Rewrite_t::FEW_QUERIES) description.forward(false);
    else description.backward();
}

void set(Row const& row, bool is_rewritten, fe::graph::Graph& graph) {
    if (!is_rewritten) graph.set_rewrites(fe::RewritePolicy_t::OFF);
    else if (row.workspace > 0) graph.set_workspace_limit(row.workspace);
    else graph.set_rewrites({row.rewrite});
}

class Memory {
   public:
    explicit Memory(std::size_t bytes) { good(cudaMalloc(&pointer_, std::max<std::size_t>(bytes, 16))); }
    ~Memory() { cudaFree(pointer_); }
    Memory(Memory const&) = delete;
    Memory& operator=(Memory const&) = delete;
    void* get() const { return pointer_; }

   private:
    void* pointer_ = nullptr;
};

// Numbers between -1 and 1, the same piece of them again and again, from another place on for each tensor.
void fill(void* memory, std::size_t bytes, unsigned seed) {
    static std::vector<std::uint16_t> const numbers = [] {
        std::vector<std::uint16_t> all((std::size_t{1} << 24) + 4096);
        std::uint32_t state = 1;
        for (std::uint16_t& number : all) {
            state = state * 1664525u + 1013904223u;
            float const value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1.0f;
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            number = static_cast<std::uint16_t>(bits >> 16);
        }
        return all;
    }();
    std::size_t const piece = std::size_t{1} << 25;
    for (std::size_t at = 0; at < bytes; at += piece) {
        std::size_t const count = std::min(piece, bytes - at);
        std::size_t const start = (seed * 977 + at / piece * 131) % 4096;
        good(cudaMemcpy(static_cast<char*>(memory) + at, numbers.data() + start, count, cudaMemcpyHostToDevice));
    }
}

float number_at(std::vector<std::uint16_t> const& numbers, std::size_t index) {
    std::uint32_t const bits = static_cast<std::uint32_t>(numbers[index]) << 16;
    float value = 0.0f;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

std::vector<std::uint16_t> download(void const* memory, std::size_t bytes) {
    std::vector<std::uint16_t> numbers(std::min<std::size_t>(bytes, std::size_t{1} << 28) / 2);
    good(cudaMemcpy(numbers.data(), memory, numbers.size() * 2, cudaMemcpyDeviceToHost));
    return numbers;
}

class Bench {
   public:
    Bench() {
        good(cudaStreamCreate(&stream_));
        good(fe::runtime::create_handle(&handle_), "handle");
        good(fe::runtime::set_stream(handle_, stream_), "stream");
    }

    void run(Row const& row) {
        std::map<std::int64_t, std::unique_ptr<Memory>> memory;
        Pack pack;
        bool const is_forward = row.rewrite == Rewrite_t::FEW_QUERIES;
        for (int uid = kQ; uid <= (is_forward ? kStats : kDV); ++uid) {
            std::size_t const bytes = bytes_of(row, static_cast<Uid>(uid));
            memory[uid] = std::make_unique<Memory>(bytes);
            pack[uid] = memory[uid]->get();
            fill(pack[uid], bytes, static_cast<unsigned>(uid));
        }
        if (!is_forward && !prepare_backward(row, pack)) return;
        fe::graph::Graph given, rewritten;
        bool const has_given = build(row, false, given), has_rewritten = build(row, true, rewritten);
        if (!has_rewritten) return;
        std::vector<std::vector<std::uint16_t>> results[2];
        double times[2] = {0.0, 0.0};
        if (has_given) times[0] = measure(row, given, pack, results[0]);
        times[1] = measure(row, rewritten, pack, results[1]);
        if (has_given) times[0] = std::min(times[0], measure(row, given, pack, results[0]));
        times[1] = std::min(times[1], measure(row, rewritten, pack, results[1]));
        report(row, rewritten, times, results);
    }

   private:
    bool build(Row const& row, bool is_rewritten, fe::graph::Graph& graph) {
        describe(row, graph);
        set(row, is_rewritten, graph);
        if (!good(graph.build(Target::cuda(handle_)), row.name)) return false;
        std::int64_t bytes = 0;
        return good(graph.get_workspace_size(bytes), "workspace") && fits(row, bytes);
    }

    static bool fits(Row const& row, std::int64_t bytes) {
        std::size_t free = 0, total = 0;
        good(cudaMemGetInfo(&free, &total));
        if (static_cast<std::size_t>(bytes) < free) return true;
        std::printf("  %s: %.1f GiB of workspace do not fit\n", row.name, static_cast<double>(bytes) / (1 << 30));
        return false;
    }

    bool prepare_backward(Row const& row, Pack& pack) {
        fe::graph::Graph graph;
        Description(row, graph).forward(true);
        if (!good(graph.build(Target::cuda(handle_)), "forward")) return false;
        std::int64_t bytes = 0;
        if (!good(graph.get_workspace_size(bytes), "workspace")) return false;
        Memory const workspace(static_cast<std::size_t>(bytes));
        return good(graph.execute(handle_, pack, workspace.get()), "forward") && good(cudaDeviceSynchronize());
    }

    // Microseconds of a run, the median of some; and what was computed.
    double measure(Row const& row, fe::graph::Graph& graph, Pack& pack,
                   std::vector<std::vector<std::uint16_t>>& results) {
        std::int64_t bytes = 0;
        good(graph.get_workspace_size(bytes), "workspace");
        Memory const workspace(static_cast<std::size_t>(bytes));
        cudaEvent_t begin, end;
        cudaEventCreate(&begin), cudaEventCreate(&end);
        std::vector<float> times;
        for (int i = 0; i < 7; ++i) {
            cudaEventRecord(begin, stream_);
            int const runs = i == 0 ? 1 : runs_;
            for (int run = 0; run < runs; ++run) {
                if (!good(graph.execute(handle_, pack, workspace.get()), row.name)) return 0.0;
            }
            cudaEventRecord(end, stream_);
            if (!good(cudaEventSynchronize(end))) return 0.0;
            float milliseconds = 0.0f;
            cudaEventElapsedTime(&milliseconds, begin, end);
            if (i == 0) runs_ = std::clamp(static_cast<int>(5.0f / milliseconds), 1, 50);
            else times.push_back(milliseconds * 1000.0f / static_cast<float>(runs));
        }
        results.clear();
        for (Uid const uid : row.rewrite == Rewrite_t::FEW_QUERIES ? std::vector{kO} : std::vector{kDQ, kDK, kDV}) {
            results.push_back(download(pack[uid], bytes_of(row, uid)));
        }
        cudaEventDestroy(begin), cudaEventDestroy(end);
        std::sort(times.begin(), times.end());
        return times[times.size() / 2];
    }

    // The norm of the difference over that of the result, the worst of all results.
    static double difference(std::vector<std::vector<std::uint16_t>> const& a,
                             std::vector<std::vector<std::uint16_t>> const& b) {
        double worst = 0.0;
        for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
            double error = 0.0, norm = 0.0;
            for (std::size_t n = 0; n < a[i].size(); ++n) {
                double const x = number_at(a[i], n), y = number_at(b[i], n);
                error += (x - y) * (x - y), norm += x * x;
            }
            double const ratio = std::sqrt(error / norm);
            if (!(ratio <= worst)) worst = ratio;
        }
        return worst;
    }

    static void report(Row const& row, fe::graph::Graph const& graph, double const (&times)[2],
                       std::vector<std::vector<std::uint16_t>> const (&results)[2]) {
        std::string name;
        std::int64_t bytes = 0;
        good(graph.get_plan_name(name), "name"), good(graph.get_workspace_size(bytes), "workspace");
        std::printf("%-30s %10.1f %10.1f us  %6.2f x  differ by %.5f  %8.1f MiB  %s\n", row.name, times[0], times[1],
                    times[0] / times[1], difference(results[0], results[1]), static_cast<double>(bytes) / (1 << 20),
                    name.c_str());
        std::fflush(stdout);
    }

    cudaStream_t stream_ = nullptr;
    cudnnHandle_t handle_ = nullptr;
    int runs_ = 1;
};

void plan_offline(Row const& row, char const* device) {
    fe::graph::Graph graph;
    describe(row, graph);
    set(row, true, graph);
    if (!good(graph.build(Target::offline(device)), row.name)) return;
    std::string name;
    std::int64_t bytes = 0;
    good(graph.get_plan_name(name), "name"), good(graph.get_workspace_size(bytes), "workspace");
    std::printf("%-30s %8.1f MiB  %s\n", row.name, static_cast<double>(bytes) / (1 << 20), name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], "--offline") == 0) {
        for (Row const& row : rows()) plan_offline(row, argv[2]);
        return 0;
    }
    std::printf("%-30s %10s %10s\n", "", "as given", "rewritten");
    Bench bench;
    for (Row const& row : rows()) {
        if (argc < 2 || std::strstr(row.name, argv[1]) != nullptr) bench.run(row);
    }
}
