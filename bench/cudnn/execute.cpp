// The time that one call of graph.execute() takes on the CPU, with a map of pointers; bench/python_speed.py compares it
// with the same call from Python.
//   bench_cudnn_execute [cpu]     on a GPU, or on the CPU target, whose time includes computing one query with one key
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/runtime.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using Pack = std::unordered_map<std::int64_t, void*>;

constexpr int kRounds = 200, kCallsOfRound = 20;  // the GPU's queue is emptied after each round

bool good(fe::error_t const& error) {
    if (error.is_bad()) std::fprintf(stderr, "%s\n", error.get_message().c_str());
    return error.is_good();
}

bool build(fe::graph::Graph& graph, fe::Target const& target, std::int64_t tokens) {
    graph.set_io_data_type(fe::DataType_t::HALF).set_compute_data_type(fe::DataType_t::FLOAT);
    auto const tensor = [&](std::int64_t uid) {
        return graph.tensor(fe::graph::Tensor_attributes()
                                .set_uid(uid)
                                .set_dim({1, 1, tokens, 64})
                                .set_stride({64 * tokens, 64 * tokens, 64, 1}));
    };
    auto const options = fe::graph::SDPA_attributes().set_generate_stats(false).set_attn_scale(0.125f);
    auto const [o, stats] = graph.sdpa(tensor(0), tensor(1), tensor(2), options);
    o->set_output(true).set_uid(3);
    return good(graph.build(target));
}

// Microseconds, in the median.
template <class Run>
double time_calls(Run const& run, bool is_on_gpu) {
    using clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < kRounds * kCallsOfRound; ++i) {
        auto const begin = clock::now();
        if (!run()) return -1;
        times.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
        if (is_on_gpu && i % kCallsOfRound == 0) cudaDeviceSynchronize();
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
}

}  // namespace

int main(int count, char** arguments) {
    bool const is_on_gpu = count < 2 || std::string(arguments[1]) != "cpu";
    cudnnHandle_t handle = nullptr;
    if (is_on_gpu && !good(fe::runtime::create_handle(&handle))) return 1;
    fe::graph::Graph graph;
    if (!build(graph, is_on_gpu ? fe::Target::cuda(handle) : fe::Target::cpu(1), is_on_gpu ? 128 : 1)) return 1;
    std::size_t const bytes = std::size_t{1} << 20;
    std::vector<void*> memory(5);
    for (void*& part : memory) {
        if (is_on_gpu ? cudaMalloc(&part, bytes) != cudaSuccess : (part = std::calloc(1, bytes)) == nullptr) return 1;
    }
    Pack const pack{{0, memory[0]}, {1, memory[1]}, {2, memory[2]}, {3, memory[3]}};
    double const time = time_calls([&] { return good(graph.execute(handle, pack, memory[4])); }, is_on_gpu);
    std::printf("%.2f\n", time);
    return time < 0 ? 1 : 0;
}
