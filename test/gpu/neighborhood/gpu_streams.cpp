// Neighborhood attention on a stream, without cuDNN: forward and backward against the CPU target, launched, replayed,
// as a CUDA graph, stored and loaded; and the graphs and queues that such targets refuse. Leaves with 77 without a GPU.
#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/process.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace {

namespace fe = cudnn_frontend;
using Numbers = std::vector<float>;
using Pack = std::map<std::int64_t, void*>;

enum Uid : std::int64_t { Q, K, V, O, Stats, DO, DQ, DK, DV, Count };
constexpr std::int64_t kTokens = 200, kHeads = 3, kWidth = 32;
constexpr std::size_t kNumbers = kTokens * kHeads * kWidth;

int failures = 0;

void expect(bool holds, std::string const& what) {
    std::printf("%-70s %s\n", what.c_str(), holds ? "ok" : "FAILED");
    if (!holds) ++failures;
}

void expect_good(fe::error_t const& error, std::string const& what) {
    expect(error.is_good(), what + (error.is_bad() ? ": " + error.get_message() : ""));
}

void expect_error(fe::error_t const& error, char const* part) {
    std::string const text = error.get_message();
    expect(text.find(part) != text.npos, std::string("refused: ") + part + (text.empty() ? "" : ": " + text));
}

bool is_statistic(std::int64_t uid) { return uid == Uid::Stats; }

void describe(fe::graph::Graph& graph, bool is_backward) {
    graph.set_io_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
    auto const lay_out = [](fe::graph::Tensor_attributes& tensor, std::int64_t uid) {
        tensor.set_uid(uid);
        if (is_statistic(uid)) tensor.set_dim({1, kTokens, kHeads}).set_stride({kTokens * kHeads, kHeads, 1});
        else
            tensor.set_dim({1, kTokens, kHeads, kWidth})
                .set_stride({kTokens * kHeads * kWidth, kHeads * kWidth, kWidth, 1});
    };
    auto const input = [&](std::int64_t uid) {
        fe::graph::Tensor_attributes tensor;
        tensor.set_name(std::to_string(uid));
        lay_out(tensor, uid);
        return graph.tensor(tensor);
    };
    auto const output = [&](std::shared_ptr<fe::graph::Tensor_attributes> const& tensor, std::int64_t uid) {
        lay_out(*tensor, uid);
        tensor->set_output(true).set_data_type(fe::DataType_t::FLOAT);
    };
    if (is_backward) {
        auto const options = fe::graph::Neighborhood_backward_attributes().set_name("na").set_kernel_size({7});
        auto const gradients = graph.neighborhood_attention_backward(
            input(Uid::Q), input(Uid::K), input(Uid::V), input(Uid::O), input(Uid::DO), input(Uid::Stats), options);
        for (std::size_t i = 0; i < gradients.size(); ++i) output(gradients[i], Uid::DQ + static_cast<std::int64_t>(i));
        return;
    }
    auto const options =
        fe::graph::Neighborhood_attributes().set_name("na").set_kernel_size({7}).set_generate_stats(true);
    auto const results = graph.neighborhood_attention(input(Uid::Q), input(Uid::K), input(Uid::V), options);
    output(results[0], Uid::O);
    output(results[1], Uid::Stats);
}

// All tensors on the host, and a copy of them on the GPU.
class Memory {
   public:
    Memory() {
        std::mt19937 random(1);
        std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
        for (std::int64_t uid = 0; uid < Uid::Count; ++uid) {
            Numbers& numbers = host[uid];
            numbers.resize(is_statistic(uid) ? kTokens * kHeads : kNumbers);
            for (float& number : numbers) number = uniform(random);
            cudaMalloc(&on_gpu[uid], bytes_of(uid));
            on_host[uid] = numbers.data();
        }
        upload();
    }
    ~Memory() {
        for (auto const& [uid, pointer] : on_gpu) cudaFree(pointer);
    }
    Memory(Memory const&) = delete;
    Memory& operator=(Memory const&) = delete;

    void upload() {
        for (auto const& [uid, pointer] : on_gpu)
            cudaMemcpy(pointer, on_host[uid], bytes_of(uid), cudaMemcpyHostToDevice);
    }
    Numbers download(std::int64_t uid) {
        Numbers numbers(host[uid].size());
        cudaDeviceSynchronize();
        cudaMemcpy(numbers.data(), on_gpu[uid], bytes_of(uid), cudaMemcpyDeviceToHost);
        cudaMemset(on_gpu[uid], 0xFF, bytes_of(uid));
        return numbers;
    }

    std::map<std::int64_t, Numbers> host;
    Pack on_host, on_gpu;

   private:
    std::size_t bytes_of(std::int64_t uid) { return host[uid].size() * sizeof(float); }
};

double difference(Numbers const& a, Numbers const& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        double const one = std::abs(double{a[i]} - double{b[i]});
        most = std::isnan(one) ? INFINITY : std::max(most, one);
    }
    return most;
}

std::vector<std::int64_t> results_of(bool is_backward) {
    return is_backward ? std::vector<std::int64_t>{Uid::DQ, Uid::DK, Uid::DV}
                       : std::vector<std::int64_t>{Uid::O, Uid::Stats};
}

void expect_results(Memory& memory, bool is_backward, std::string const& what) {
    double most = 0;
    for (std::int64_t const uid : results_of(is_backward)) {
        most = std::max(most, difference(memory.download(uid), memory.host[uid]));
    }
    expect(most < 2e-5, what + ", differs from the CPU by " + std::to_string(most));
}

void launch(cudaGraph_t graph, cudaStream_t stream) {
    cudaGraphExec_t instance = nullptr;
    expect(cudaGraphInstantiate(&instance, graph, 0) == cudaSuccess, "the CUDA graph is instantiated");
    cudaGraphLaunch(instance, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(instance);
}

// The results on the host are those of the CPU target, from which backward goes on.
void run(Memory& memory, bool is_backward, cudaStream_t stream, cudaStream_t other) {
    fe::graph::Graph on_cpu;
    describe(on_cpu, is_backward);
    expect_good(on_cpu.build(fe::Target::cpu()), "the CPU's plan");
    std::vector<char> scratch(static_cast<std::size_t>(on_cpu.get_workspace_size()) + 64);
    expect_good(on_cpu.execute(memory.on_host, scratch.data()), "the CPU's run");
    memory.upload();

    fe::graph::Graph graph;
    describe(graph, is_backward);
    expect_good(graph.build(fe::Target::cuda(fe::Cuda_stream(stream))), "a plan for a stream");
    void* workspace = nullptr;
    cudaMalloc(&workspace, static_cast<std::size_t>(graph.get_workspace_size()) + 16);
    expect_good(graph.warmup(fe::Cuda_stream(stream)), "warm-up");
    for (cudaStream_t const on : {stream, stream, other, stream}) {
        expect_good(graph.execute(fe::Cuda_stream(on), memory.on_gpu, workspace), "a run");
        expect_results(memory, is_backward, "a run");
    }
    cudaGraph_t recorded = nullptr;
    cudaGraphCreate(&recorded, 0);
    expect_good(graph.populate_cuda_graph(fe::Cuda_stream(stream), memory.on_gpu, workspace, recorded), "a CUDA graph");
    launch(recorded, stream);
    expect_results(memory, is_backward, "a CUDA graph");
    cudaGraphDestroy(recorded);

    std::vector<std::uint8_t> bytes;
    fe::graph::Graph loaded;
    expect_good(graph.serialize(bytes), "the plan is stored");
    expect_good(loaded.deserialize(fe::Cuda_stream(stream), bytes), "the plan is loaded");
    expect_good(loaded.execute(fe::Cuda_stream(stream), memory.on_gpu, workspace), "a run of the loaded plan");
    expect_results(memory, is_backward, "a loaded plan");
    auto* const no_handle = reinterpret_cast<cudnnHandle_t>(stream);
    expect_error(graph.execute(no_handle, memory.on_gpu, workspace), "the call has none");
    cudaFree(workspace);
}

// An attention of numbers that the engine for streams does not have, and a graph that is more than an attention.
void refuse_other_graphs(cudaStream_t stream) {
    for (bool const has_more : {false, true}) {
        fe::graph::Graph graph;
        auto const type = has_more ? fe::DataType_t::HALF : fe::DataType_t::FLOAT;
        graph.set_io_data_type(type).set_intermediate_data_type(type).set_compute_data_type(fe::DataType_t::FLOAT);
        auto const tensor = [&](std::int64_t uid) {
            return graph.tensor(
                fe::graph::Tensor_attributes().set_uid(uid).set_dim({1, 2, 64, 64}).set_stride({8192, 4096, 64, 1}));
        };
        auto const options = fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(false);
        auto result = graph.sdpa(tensor(1), tensor(2), tensor(3), options)[0];
        auto const relu = fe::graph::Pointwise_attributes().set_mode(fe::PointwiseMode_t::RELU_FWD);
        if (has_more) result = graph.pointwise(result, relu);
        result->set_output(true).set_uid(4);
        expect_error(graph.build(fe::Target::cuda(fe::Cuda_stream(stream))),
                     has_more ? "Target::cuda(handle)" : "the engine 'attention' cannot run this graph");
    }
}

}  // namespace

int main() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
        std::puts("skipped: there is no GPU here");
        return 77;
    }
    cudaStream_t stream = nullptr, other = nullptr;
    cudaStreamCreate(&stream);
    cudaStreamCreate(&other);
    for (std::int64_t const replay_after : {-1, 0}) {
        fe::runtime::set_replay_after(replay_after);
        fe::runtime::set_kept_bytes(0);
        Memory memory;
        for (bool const is_backward : {false, true}) run(memory, is_backward, stream, other);
    }
    refuse_other_graphs(stream);
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
