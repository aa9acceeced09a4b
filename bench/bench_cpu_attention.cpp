// Fused attention on the CPU: its throughput compared with that of a plain matrix product, and its memory.
//
//     bench_cpu_attention [threads] [--cpu-time] [--quick] [--bf16]
//
// --cpu-time divides by processor time instead of elapsed time, which gives the rate of one core: for machines that are
// busy with other work. --quick leaves out the longest sequences. --bf16 measures rates in BFLOAT16 alone, of two head
// dims. SDPA_GRAPH_CPU_KERNELS chooses the instruction set.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include "process.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#ifdef SDPA_BENCH_OPENBLAS
#include <cblas.h>
#endif

namespace {

namespace fe = cudnn_frontend;

constexpr std::int64_t kHeads = 8;

struct Options {
    int threads = 0;
    bool cpu_time = false, quick = false, bf16 = false;

    double now() const { return cpu_time ? bench::processor_seconds() : bench::elapsed_seconds(); }
};

Options parse(int count, char** arguments) {
    Options options;
    for (int i = 1; i < count; ++i) {
        if (std::strcmp(arguments[i], "--cpu-time") == 0) {
            options.cpu_time = true;
        } else if (std::strcmp(arguments[i], "--quick") == 0) {
            options.quick = true;
        } else if (std::strcmp(arguments[i], "--bf16") == 0) {
            options.bf16 = true;
        } else {
            options.threads = std::atoi(arguments[i]);
        }
    }
    return options;
}

void require(fe::error_t const& status) {
    if (status.is_good()) return;
    std::fprintf(stderr, "%s\n", status.get_message().c_str());
    std::exit(1);
}

struct Case {
    std::int64_t length;
    bool causal;
    fe::DataType_t type;
    std::int64_t width = 64;

    // Flops of the forward pass; a causal mask halves them.
    double operations() const {
        double const scores = static_cast<double>(kHeads * length * length) * (causal ? 0.5 : 1.0);
        return 4.0 * scores * static_cast<double>(width);
    }
};

enum Uid : std::int64_t { Q = 1, K, V, O, Stats, DO, DQ, DK, DV };

fe::graph::Tensor_attributes attributes(Case const& test, Uid uid) {
    return fe::graph::Tensor_attributes()
        .set_uid(uid)
        .set_dim({1, kHeads, test.length, test.width})
        .set_stride({kHeads * test.length * test.width, test.length * test.width, test.width, 1})
        .set_data_type(test.type);
}

fe::graph::Tensor_attributes stats_attributes(Case const& test) {
    return fe::graph::Tensor_attributes()
        .set_uid(Uid::Stats)
        .set_dim({1, kHeads, test.length, 1})
        .set_stride({kHeads * test.length, test.length, 1, 1})
        .set_data_type(fe::DataType_t::FLOAT);
}

fe::graph::Graph typed_graph(Case const& test) {
    fe::graph::Graph graph;
    graph.set_io_data_type(test.type)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
    return graph;
}

fe::graph::Graph forward_graph(Case const& test, int threads) {
    fe::graph::Graph graph = typed_graph(test);
    auto const q = graph.tensor(attributes(test, Uid::Q)), k = graph.tensor(attributes(test, Uid::K));
    auto const v = graph.tensor(attributes(test, Uid::V));
    auto const options =
        fe::graph::SDPA_attributes().set_generate_stats(true).set_attn_scale(0.125f).set_causal_mask(test.causal);
    auto const [o, stats] = graph.sdpa(q, k, v, options);
    o->set_output(true).set_uid(Uid::O);
    stats->set_output(true).set_uid(Uid::Stats).set_data_type(fe::DataType_t::FLOAT);
    require(graph.build(fe::Target::cpu(threads)));
    return graph;
}

fe::graph::Graph backward_graph(Case const& test, int threads) {
    fe::graph::Graph graph = typed_graph(test);
    auto const q = graph.tensor(attributes(test, Uid::Q)), k = graph.tensor(attributes(test, Uid::K));
    auto const v = graph.tensor(attributes(test, Uid::V)), o = graph.tensor(attributes(test, Uid::O));
    auto const d_o = graph.tensor(attributes(test, Uid::DO)), stats = graph.tensor(stats_attributes(test));
    auto const options = fe::graph::SDPA_backward_attributes().set_attn_scale(0.125f).set_causal_mask(test.causal);
    auto const [d_q, d_k, d_v] = graph.sdpa_backward(q, k, v, o, d_o, stats, options);
    d_q->set_output(true).set_uid(Uid::DQ);
    d_k->set_output(true).set_uid(Uid::DK);
    d_v->set_output(true).set_uid(Uid::DV);
    require(graph.build(fe::Target::cpu(threads)));
    return graph;
}

// Memory for all tensors; inputs are filled.
class Tensors {
   public:
    explicit Tensors(Case const& test) {
        auto const count = static_cast<std::size_t>(kHeads * test.length * test.width);
        std::mt19937 random(7);
        std::normal_distribution<float> normal;
        for (std::int64_t uid = Uid::Q; uid <= Uid::DV; ++uid) {
            auto& memory = memory_[uid];
            memory.resize(count * (test.type == fe::DataType_t::FLOAT ? 4 : 2));
            for (std::size_t i = 0; i < count; ++i) {
                float const value = normal(random);
                fe::bfloat16 const rounded(value);
                if (test.type == fe::DataType_t::FLOAT) std::memcpy(memory.data() + 4 * i, &value, 4);
                else std::memcpy(memory.data() + 2 * i, &rounded, 2);
            }
            pack_[uid] = memory.data();
        }
    }
    std::map<std::int64_t, void*> const& pack() const { return pack_; }

   private:
    std::map<std::int64_t, std::vector<char>> memory_;
    std::map<std::int64_t, void*> pack_;
};

// The fastest of some runs, after one for warm-up.
template <class Run>
double best_seconds(Options const& options, int runs, Run run) {
    run();
    double best = 1e30;
    for (int i = 0; i < runs; ++i) {
        double const start = options.now();
        run();
        best = std::min(best, options.now() - start);
    }
    return best;
}

double time_graph(Options const& options, fe::graph::Graph const& graph, Tensors const& tensors, int runs) {
    std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1);
    return best_seconds(options, runs, [&] { require(graph.execute(tensors.pack(), workspace.data())); });
}

// GFLOP/s of single-precision OpenBLAS on square matrices, 0 where the benchmark was built without it.
double matrix_product_rate([[maybe_unused]] Options const& options) {
#ifdef SDPA_BENCH_OPENBLAS
    constexpr int kSize = 2048;
    if (options.threads > 0) openblas_set_num_threads(options.threads);
    std::vector<float> const a(kSize * kSize, 0.5f), b(kSize * kSize, 0.25f);
    std::vector<float> c(kSize * kSize);
    double const seconds = best_seconds(options, 5, [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize, 1.0f, a.data(), kSize, b.data(),
                    kSize, 0.0f, c.data(), kSize);
    });
    return 2.0 * kSize * kSize * kSize / seconds * 1e-9;
#else
    return 0.0;
#endif
}

void print_rate(char const* direction, Case const& test, double operations, double seconds, double matrix_product) {
    double const rate = operations / seconds * 1e-9;
    std::printf("%-9s %6lld %4lld  %-4s %-5s %9.2f %9.1f", direction, static_cast<long long>(test.length),
                static_cast<long long>(test.width), test.type == fe::DataType_t::FLOAT ? "fp32" : "bf16",
                test.causal ? "yes" : "no", seconds * 1e3, rate);
    if (matrix_product > 0.0) std::printf(" %8.2f", rate / matrix_product);
    std::printf("\n");
}

std::vector<Case> cases(Options const& options) {
    std::vector<Case> all;
    for (fe::DataType_t const type : {fe::DataType_t::FLOAT, fe::DataType_t::BFLOAT16}) {
        for (std::int64_t const width : {64, 128}) {
            for (std::int64_t const length : {1024, 4096}) {
                bool const is_wanted = options.bf16 ? type == fe::DataType_t::BFLOAT16 : width == 64;
                if (!is_wanted || (options.quick && length > 1024)) continue;
                for (bool const causal : {false, true}) all.push_back({length, causal, type, width});
            }
        }
    }
    return all;
}

void measure_rates(Options const& options) {
    double const matrix_product = options.bf16 ? 0.0 : matrix_product_rate(options);
    std::printf("\nb=1 h=%lld, OpenBLAS sgemm: %.1f GFLOP/s (0: not built in)\n", static_cast<long long>(kHeads),
                matrix_product);
    std::printf("%-9s %6s %4s  %-4s %-5s %9s %9s %8s\n", "pass", "s", "d", "type", "causal", "ms", "GFLOP/s",
                "/ sgemm");
    for (Case const& test : cases(options)) {
        Tensors const tensors(test);
        int const runs = test.length > 1024 ? 3 : 10;
        double const forward = time_graph(options, forward_graph(test, options.threads), tensors, runs);
        print_rate("forward", test, test.operations(), forward, matrix_product);
        double const backward = time_graph(options, backward_graph(test, options.threads), tensors, runs);
        print_rate("backward", test, 2.5 * test.operations(), backward, matrix_product);
    }
}

// The largest growth of the process while the graph ran, including its workspace.
double growth_in_run(fe::graph::Graph const& graph, Tensors const& tensors) {
    bench::UntouchedMemory const workspace(static_cast<std::size_t>(graph.get_workspace_size()) + 1);
    bench::reset_peak_memory();
    std::int64_t const before = bench::peak_memory_bytes();
    require(graph.execute(tensors.pack(), workspace.data()));
    return static_cast<double>(bench::peak_memory_bytes() - before);
}

void measure_memory(Options const& options) {
    constexpr double kMebibyte = 1024.0 * 1024.0;
    std::printf("memory in MiB: fp32, causal; one tensor; workspace and peak growth, forward and backward\n");
    std::printf("%6s %8s %11s %11s %11s %11s\n", "s", "tensor", "fwd wspace", "fwd growth", "bwd wspace", "bwd growth");
    for (std::int64_t const length : {1024, 4096, 16384}) {
        if (options.quick && length > 4096) continue;
        Case const test{length, true, fe::DataType_t::FLOAT};
        Tensors const tensors(test);
        auto const forward = forward_graph(test, options.threads), backward = backward_graph(test, options.threads);
        std::printf("%6lld %8.2f %11.2f %11.2f %11.2f %11.2f\n", static_cast<long long>(length),
                    static_cast<double>(4 * kHeads * length * test.width) / kMebibyte,
                    static_cast<double>(forward.get_workspace_size()) / kMebibyte,
                    growth_in_run(forward, tensors) / kMebibyte,
                    static_cast<double>(backward.get_workspace_size()) / kMebibyte,
                    growth_in_run(backward, tensors) / kMebibyte);
    }
}

// The line that says which instruction set runs.
void print_kernels() {
    std::string const text = fe::runtime::describe();
    std::size_t const begin = text.find("attention on the CPU");
    std::printf("%s\n", text.substr(begin, text.find('\n', begin) - begin).c_str());
}

}  // namespace

int main(int count, char** arguments) {
    Options const options = parse(count, arguments);
    print_kernels();
    if (!options.bf16) measure_memory(options);
    measure_rates(options);
    return 0;
}
