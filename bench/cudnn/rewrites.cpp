// Graphs as they are given beside the same graphs rewritten as programs: the GPU's time of each, and how far their
// results differ.
//   bench_cudnn_rewrites [part of a row's name]
//   bench_cudnn_rewrites --offline <device>   plans only, without a GPU
//   bench_cudnn_rewrites --auto <count> [first]   random shapes: as given, as AUTO chooses, and the best of all
//   programs
// The two take turns; medians. Times include merges, sums and borders.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
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
    bool lengths = false;               // of each sequence, all of them whole
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
            {"few 4 x 8k, b=16, lengths", kFew, 16, 32, 8, 4, 8192, 128, false, false, 0, -1, 0, true},
            {"few 2 x 8k, b=8, 128/1", kFew, 8, 128, 1, 2, 8192, 128},
            {"few 1 x 4k, b=128, 128/1", kFew, 128, 128, 1, 1, 4096, 128},
            {"band 64, b=16, 8k", kBands, 16, 12, 12, 8192, 8192, 64, false, false, 65, 64},
            {"band 128, b=2, 16k", kBands, 2, 16, 16, 16384, 16384, 64, false, false, 129, 128},
            {"band 512, 32k", kBands, 1, 32, 8, 32768, 32768, 128, false, false, 513, 512},
            {"slices 8k, 2.1 GiB", kSlices, 1, 64, 8, 8192, 8192, 128, false, true, 0, -1, 21 * gib / 10},
            {"slices 32k, 4.5 GiB", kSlices, 1, 64, 8, 32768, 32768, 128, false, true, 0, -1, 45 * gib / 10}};
}

enum Uid : std::int64_t { kQ = 1, kK, kV, kO, kStats, kDO, kDQ, kDK, kDV, kQueryLengths, kKeyLengths };
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
        if (row_.lengths) {
            options.set_padding_mask(true).set_seq_len_q(lengths(kQueryLengths)).set_seq_len_kv(lengths(kKeyLengths));
        }
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

    TensorPtr lengths(Uid uid) {
        return graph_.tensor(fe::graph::Tensor_attributes()
                                 .set_name(std::to_string(uid))
                                 .set_uid(uid)
                                 .set_dim({row_.b, 1, 1, 1})
                                 .set_stride({1, 1, 1, 1})
                                 .set_data_type(fe::DataType_t::INT32));
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

// Microseconds.
struct Choice {
    double given = 0.0, chosen = 0.0, best = 0.0;
    std::string name, best_name = "as given or chosen";
};

class Bench {
   public:
    Bench() {
        good(cudaStreamCreate(&stream_));
        good(fe::runtime::create_handle(&handle_), "handle");
        good(fe::runtime::set_stream(handle_, stream_), "stream");
    }

    void run(Row const& row) {
        Buffers buffers(row);
        Pack& pack = buffers.pack;
        if (row.rewrite != Rewrite_t::FEW_QUERIES && !prepare_backward(row, pack)) return;
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

    // As given, as AUTO chooses, and the best of the programs; returns whether they could be timed.
    bool compare_choice(Row const& row, Choice& choice) {
        quick_ = true;
        Buffers buffers(row);
        if (row.rewrite != Rewrite_t::FEW_QUERIES && !prepare_backward(row, buffers.pack)) return false;
        fe::graph::Graph given, chosen, listed;
        describe(row, given), describe(row, chosen), describe(row, listed);
        given.set_rewrites(fe::RewritePolicy_t::OFF);
        listed.set_rewrites({row.rewrite});
        std::vector<std::vector<std::uint16_t>> results;
        if (!good(given.build(Target::cuda(handle_)), "given") || !good(chosen.build(Target::cuda(handle_)), "auto")) {
            return false;
        }
        good(chosen.get_plan_name(choice.name), "name");
        choice.given = measure(row, given, buffers.pack, results);
        choice.chosen = measure(row, chosen, buffers.pack, results);
        choice.given = std::min(choice.given, measure(row, given, buffers.pack, results));
        choice.chosen = std::min(choice.chosen, measure(row, chosen, buffers.pack, results));
        choice.best = std::min(choice.given, choice.chosen);
        if (listed.build_operation_graph(Target::cuda(handle_)).is_bad()) return true;
        if (listed.create_execution_plans({fe::HeurMode_t::A}).is_bad()) return true;
        for (std::int64_t i = 0; i < std::min<std::int64_t>(4, listed.get_execution_plan_count()); ++i) {
            std::string name;
            if (listed.get_plan_name_at_index(i, name).is_bad() || !name.starts_with("program ")) break;
            if (listed.build_plan_at_index(i).is_bad()) continue;
            double const time = measure(row, listed, buffers.pack, results);
            if (time < choice.best) choice.best = time, choice.best_name = name;
        }
        return true;
    }

   private:
    // The memory of a row's tensors, with numbers in it.
    struct Buffers {
        explicit Buffers(Row const& row) {
            for (int uid = kQ; uid <= (row.rewrite == Rewrite_t::FEW_QUERIES ? kStats : kDV); ++uid) {
                std::size_t const bytes = bytes_of(row, static_cast<Uid>(uid));
                memory[uid] = std::make_unique<Memory>(bytes);
                pack[uid] = memory[uid]->get();
                fill(pack[uid], bytes, static_cast<unsigned>(uid));
            }
            if (!row.lengths) return;
            add_lengths(kQueryLengths, row.b, row.s_q);
            add_lengths(kKeyLengths, row.b, row.s_kv);
        }

        void add_lengths(Uid uid, std::int64_t count, std::int64_t length) {
            std::vector<std::int32_t> const all(static_cast<std::size_t>(count), static_cast<std::int32_t>(length));
            memory[uid] = std::make_unique<Memory>(all.size() * 4);
            pack[uid] = memory[uid]->get();
            good(cudaMemcpy(pack[uid], all.data(), all.size() * 4, cudaMemcpyHostToDevice));
        }

        std::map<std::int64_t, std::unique_ptr<Memory>> memory;
        Pack pack;
    };

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
            if (i == 0) runs_ = std::clamp(static_cast<int>((quick_ ? 1.0f : 5.0f) / milliseconds), 1, 50);
            else times.push_back(milliseconds * 1000.0f / static_cast<float>(runs));
        }
        results.clear();
        if (quick_) return middle_of(begin, end, times);
        for (Uid const uid : row.rewrite == Rewrite_t::FEW_QUERIES ? std::vector{kO} : std::vector{kDQ, kDK, kDV}) {
            results.push_back(download(pack[uid], bytes_of(row, uid)));
        }
        return middle_of(begin, end, times);
    }

    static double middle_of(cudaEvent_t begin, cudaEvent_t end, std::vector<float>& times) {
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
    bool quick_ = false;  // short runs, and no results
};

template <class T, std::size_t count>
T pick(T const (&values)[count], std::mt19937& random) {
    return values[random() % count];
}

Row random_few(std::mt19937& random) {
    Row row{"few", Rewrite_t::FEW_QUERIES, 1, 1, 1, 1, 1, 1};
    std::int64_t const batches[] = {1, 2, 4, 8, 16, 32, 64}, heads[] = {1, 2, 4, 8, 16},
                       groups[] = {1, 2, 4, 8, 16, 64};
    std::int64_t const queries[] = {1, 2, 3, 4, 8, 16, 32, 64, 256, 1024};
    do {
        row.b = pick(batches, random), row.h_k = pick(heads, random), row.h_q = row.h_k * pick(groups, random);
        row.s_q = pick(queries, random), row.d = random() % 2 == 0 ? 64 : 128;
        row.s_kv = std::int64_t{1024} << random() % 7;
        if (random() % 4 == 0) row.s_kv += 8 * static_cast<std::int64_t>(random() % 64);
        row.rows_first = random() % 2 == 0;
        row.causal = random() % 3 == 0;
        row.lengths = !row.causal && random() % 3 == 0;
    } while (row.b * row.h_k * row.s_kv * row.d > std::int64_t{1} << 29 ||
             row.b * row.h_q * row.s_q * row.s_kv * row.d > std::int64_t{1} << 40 ||
             row.b * row.h_q * row.s_q * row.d > std::int64_t{1} << 28);
    return row;
}

Row random_band(std::mt19937& random) {
    Row row{"band", Rewrite_t::BANDS, 1, 1, 1, 1, 1, 1};
    std::int64_t const batches[] = {1, 2, 4, 8, 16}, heads[] = {1, 4, 8, 12, 32};
    std::int64_t const widths[] = {16, 64, 128, 256, 512, 1024};
    do {
        row.b = pick(batches, random), row.h_k = pick(heads, random), row.h_q = row.h_k * (random() % 3 == 0 ? 4 : 1);
        row.s_q = row.s_kv = std::int64_t{512} << random() % 6;
        row.d = random() % 2 == 0 ? 64 : 128;
        row.left = 1 + pick(widths, random), row.right = pick(widths, random);
        row.rows_first = random() % 2 == 0;
    } while (row.right >= row.s_kv || row.b * row.h_q * row.s_q * row.s_kv * row.d > std::int64_t{1} << 40);
    return row;
}

// How AUTO does on random shapes, two thirds of them of few queries.
void compare_choices(Bench& bench, int count, unsigned first) {
    int worse = 0, far = 0, faster = 0, timed = 0;
    for (unsigned index = first; index < first + static_cast<unsigned>(count); ++index) {
        std::mt19937 random(index);
        Row const row = index % 3 == 2 ? random_band(random) : random_few(random);
        Choice choice;
        if (!bench.compare_choice(row, choice)) continue;
        bool const is_worse = choice.chosen > 1.05 * choice.given, is_far = choice.chosen > 1.15 * choice.best;
        ++timed, worse += is_worse, far += is_far, faster += choice.chosen < 0.95 * choice.given;
        if (!is_worse && !is_far && index % 10 != 0) continue;
        std::printf(
            "%4u %s b=%ld h=%ld/%ld q=%ld k=%ld d=%ld%s%s band %ld %ld: %.1f, auto %.1f, best %.1f us%s%s; %s; %s\n",
            index, row.name, row.b, row.h_q, row.h_k, row.s_q, row.s_kv, row.d, row.rows_first ? " bshd" : "",
            row.causal    ? " causal"
            : row.lengths ? " lengths"
                          : "",
            row.left, row.right, choice.given, choice.chosen, choice.best, is_worse ? " WORSE" : "",
            is_far ? " FAR" : "", choice.name.c_str(), choice.best_name.c_str());
        std::fflush(stdout);
    }
    std::printf(
        "%d shapes: AUTO was faster in %d, above 1.05 of the graph as given in %d, above 1.15 of the best in %d\n",
        timed, faster, worse, far);
}

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
    if (argc >= 3 && std::strcmp(argv[1], "--auto") == 0) {
        compare_choices(bench, std::atoi(argv[2]), argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 0);
        return 0;
    }
    for (Row const& row : rows()) {
        if (argc < 2 || std::strstr(row.name, argv[1]) != nullptr) bench.run(row);
    }
}
