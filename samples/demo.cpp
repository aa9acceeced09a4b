// The library at a glance: attention forward and backward on this machine's GPU, if it has one, and on its CPU, timed
// and checked in two ways.
//   ./run demo
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <cudnn_frontend/runtime.h>

#include "support.h"

namespace fe = cudnn_frontend;
using samples::Index;
using Bf16s = std::vector<fe::bfloat16>;
using Floats = std::vector<float>;

namespace {

constexpr Index kBatch = 2, kQueryHeads = 8, kKvHeads = 2, kRows = 256, kDepth = 64;
constexpr float kScale = 0.125f;
samples::Layout const kLayoutQ = samples::bhsd(kBatch, kQueryHeads, kRows, kDepth);
samples::Layout const kLayoutKv = samples::bhsd(kBatch, kKvHeads, kRows, kDepth);
samples::Layout const kLayoutStats = samples::bhsd(kBatch, kQueryHeads, kRows, 1);
// Forward has two matrix products and backward five, with two flops a term; the mask halves them.
constexpr double kProduct = 2.0 * double(kBatch * kQueryHeads) * double(kRows * kRows) * double(kDepth) / 2.0;

Bf16s random(samples::Layout const& layout, unsigned seed) {
    return samples::random<fe::bfloat16>(layout.volume(), seed);
}

struct Inputs {
    Bf16s q = random(kLayoutQ, 1), k = random(kLayoutKv, 2), v = random(kLayoutKv, 3), dO = random(kLayoutQ, 4);
};

struct Results {
    Bf16s o = Bf16s(kLayoutQ.volume()), dQ = o, dK = Bf16s(kLayoutKv.volume()), dV = dK;
    Floats stats = Floats(kLayoutStats.volume());
};

// The time of the fastest run in milliseconds.
template <class Run>
double fastest_of(int runs, Run const& run) {
    double fastest = samples::kInfinity;
    for (int n = 0; n < runs; ++n) {
        auto const start = std::chrono::steady_clock::now();
        run();
        std::chrono::duration<double, std::milli> const time = std::chrono::steady_clock::now() - start;
        fastest = std::min(fastest, time.count());
    }
    return fastest;
}

// Builds the graph and times it; on a GPU without the copies.
double time_of(fe::graph::Graph& graph, fe::Target const& target, samples::Tensor_pack const& pack, int runs) {
    samples::require(graph.build(target));
    if (target.kind() == fe::Target::Kind::CUDA) {
        samples::GpuRun on_gpu(graph, samples::by_uid(pack));
        double const time = fastest_of(runs, [&] { on_gpu.execute(); });
        on_gpu.copy_back();
        return time;
    }
    std::vector<char> workspace(static_cast<std::size_t>(graph.get_workspace_size()));
    return fastest_of(runs, [&] { samples::require(graph.execute(pack, workspace.data())); });
}

double forward(fe::Target const& target, Inputs& in, Results& out, int runs) {
    fe::graph::Graph graph;
    samples::set_types(graph, fe::DataType_t::BFLOAT16);
    auto Q = graph.tensor(samples::describe("Q", kLayoutQ));
    auto K = graph.tensor(samples::describe("K", kLayoutKv));
    auto V = graph.tensor(samples::describe("V", kLayoutKv));
    auto options = fe::graph::SDPA_attributes().set_name("forward").set_attn_scale(kScale).set_causal_mask(true);
    auto [O, Stats] = graph.sdpa(Q, K, V, options.set_generate_stats(true));
    O->set_output(true);
    Stats->set_output(true).set_data_type(fe::DataType_t::FLOAT);
    samples::Tensor_pack pack{{Q, in.q.data()}, {K, in.k.data()}, {V, in.v.data()}, {O, out.o.data()}};
    pack[Stats] = out.stats.data();
    return time_of(graph, target, pack, runs);
}

// Reads O and Stats from `saved`, as training does.
double backward(fe::Target const& target, Inputs& in, Results& saved, Results& out, int runs) {
    fe::graph::Graph graph;
    samples::set_types(graph, fe::DataType_t::BFLOAT16);
    auto Q = graph.tensor(samples::describe("Q", kLayoutQ));
    auto K = graph.tensor(samples::describe("K", kLayoutKv));
    auto V = graph.tensor(samples::describe("V", kLayoutKv));
    auto O = graph.tensor(samples::describe("O", kLayoutQ));
    auto dO = graph.tensor(samples::describe("dO", kLayoutQ));
    auto Stats = graph.tensor(samples::describe("Stats", kLayoutStats).set_data_type(fe::DataType_t::FLOAT));
    fe::graph::SDPA_backward_attributes options;
    options.set_name("backward").set_attn_scale(kScale).set_causal_mask(true);
    auto [dQ, dK, dV] = graph.sdpa_backward(Q, K, V, O, dO, Stats, options);
    for (auto const& gradient : {dQ, dK, dV}) gradient->set_output(true);
    samples::Tensor_pack pack{{Q, in.q.data()}, {K, in.k.data()}, {V, in.v.data()}, {dO, in.dO.data()}};
    pack.insert({{O, saved.o.data()}, {Stats, saved.stats.data()}});
    pack.insert({{dQ, out.dQ.data()}, {dK, out.dK.data()}, {dV, out.dV.data()}});
    return time_of(graph, target, pack, runs);
}

void print_time(char const* what, fe::Target const& target, double milliseconds, double products) {
    std::printf("  %-11s%-11s%10.2f ms%12.2f GFLOP/s\n", what, fe::to_string(target.kind()), milliseconds,
                products * kProduct / milliseconds / 1e6);
}

void print_times(fe::Target const& target, Inputs& in, Results& out, int runs) {
    print_time("forward", target, forward(target, in, out, runs), 2);
    print_time("backward", target, backward(target, in, out, out, runs), 5);
}

bool print_check(char const* what, fe::Target const& target, char const* oracle, std::vector<double> const& got,
                 std::vector<double> const& want, double tolerance) {
    double const error = samples::worst_error(got, want);
    bool const passed = error <= tolerance;
    std::printf("  %-8s%-11s%-19s%12.1e%12.1e   %s\n", what, fe::to_string(target.kind()), oracle, error, tolerance,
                passed ? "PASS" : "FAIL");
    return passed;
}

std::vector<double> doubles(Floats const& x) { return {x.begin(), x.end()}; }
std::vector<double> of_q(Bf16s const& x) { return dense(view(kLayoutQ, x)); }
std::vector<double> of_kv(Bf16s const& x) { return dense(view(kLayoutKv, x)); }

bool check(fe::Target const& target, Inputs const& in, Results const& got, Results const& reference) {
    auto const q = view(kLayoutQ, in.q), k = view(kLayoutKv, in.k), v = view(kLayoutKv, in.v);
    auto const formula = samples::attention(q, k, v, kScale, samples::causal);
    double const loose = samples::tolerance<fe::bfloat16>(kRows + kDepth);
    double const tight = samples::tolerance<float>(kRows + kDepth);
    bool passed = print_check("O", target, "fp64 formula", of_q(got.o), formula.o, loose);
    passed &= print_check("Stats", target, "fp64 formula", doubles(got.stats), formula.stats, tight);
    passed &= print_check("dQ", target, "target reference", of_q(got.dQ), of_q(reference.dQ), loose);
    passed &= print_check("dK", target, "target reference", of_kv(got.dK), of_kv(reference.dK), loose);
    passed &= print_check("dV", target, "target reference", of_kv(got.dV), of_kv(reference.dV), loose);
    return passed;
}

// Plans the same forward graph with real cuDNN, if there is one, for a GPU that need not be present.
bool print_offline_plan() {
    fe::graph::Graph graph;
    samples::set_types(graph, fe::DataType_t::BFLOAT16);
    auto Q = graph.tensor(samples::describe("Q", kLayoutQ));
    auto K = graph.tensor(samples::describe("K", kLayoutKv));
    auto V = graph.tensor(samples::describe("V", kLayoutKv));
    auto options = fe::graph::SDPA_attributes().set_name("forward").set_attn_scale(kScale).set_causal_mask(true);
    auto [O, Stats] = graph.sdpa(Q, K, V, options.set_generate_stats(true));
    O->set_output(true);
    Stats->set_output(true).set_data_type(fe::DataType_t::FLOAT);
    std::string name;
    auto error = graph.build(fe::Target::offline("h200"));
    if (error.is_good()) error = graph.get_plan_name(name);
    std::printf("\n  planned by cuDNN for an H200, with no GPU: %s\n",
                error.is_good()
                    ? (name + ", workspace of " + std::to_string(graph.get_workspace_size()) + " bytes").c_str()
                    : ("not here, " + error.err_msg).c_str());
    return error.is_good() || fe::runtime::cudnn_version() == 0;
}

// A process plans offline or runs on a GPU, not both.
bool print_offline_plan_of_own_process() {
    std::fflush(stdout);
    pid_t const child = fork();
    if (child == 0) {
        bool const passed = print_offline_plan();
        std::fflush(stdout);
        _exit(passed ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main() {
    std::printf("\nAttention as a graph: bfloat16, causal, %d sequences of %d, %d query heads on %d kv heads,",
                int(kBatch), int(kRows), int(kQueryHeads), int(kKvHeads));
    std::printf(" head dim %d\n", int(kDepth));
    bool passed = print_offline_plan_of_own_process();

    std::vector<fe::Target> targets{fe::Target::cpu()};
    if (samples::has_gpu()) targets.insert(targets.begin(), samples::gpu_target());
    Inputs in;
    Results reference;
    std::vector<Results> results(targets.size());
    std::printf("\n  %-11s%-11s%13s%20s\n", "graph", "target", "time", "speed");
    for (std::size_t i = 0; i < targets.size(); ++i) print_times(targets[i], in, results[i], 5);
    print_times(fe::Target::reference(), in, reference, 1);

    std::printf("\n  %-8s%-11s%-19s%12s%12s\n", "result", "target", "compared with", "worst error", "tolerance");
    for (std::size_t i = 0; i < targets.size(); ++i) passed &= check(targets[i], in, results[i], reference);

    std::printf("\n%s\n\nWhat next\n", passed ? "All checks passed." : "A CHECK FAILED.");
    std::puts("  README.md          a short program, and how to use the library in yours");
    std::puts("  docs/guide.md      masks, dropout, layouts, errors, JSON; each sample in samples/ shows one of them");
    std::puts("  ./run test         the whole test suite\n");
    return passed ? 0 : 1;
}
