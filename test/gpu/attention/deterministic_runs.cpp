#include "deterministic_runs.h"

#include "gpu/attention/own_engine.h"
#include "gpu/cases/case_changes.h"
#include "reference/oracle/oracle.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace sdpa_test {
namespace {

using Bits = std::set<std::string>;

// Work that takes multiprocessors and memory from other streams, for as long as the object is there.
class ChangingLoad {
   public:
    ChangingLoad() : thread_([this](std::stop_token const& stop) { run(stop); }) {}

   private:
    static void run(std::stop_token const& stop) {
        constexpr std::size_t kMost = std::size_t{256} << 20;
        GpuStream const gpu;
        void* memory = nullptr;
        if (cudaMalloc(&memory, kMost) != cudaSuccess) return;
        std::minstd_rand random(1);
        while (!stop.stop_requested()) {
            cudaMemsetAsync(memory, static_cast<int>(random() % 256), random() % kMost, gpu.stream());
            cudaStreamSynchronize(gpu.stream());
            std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        }
        cudaFree(memory);
    }

    std::jthread thread_;
};

struct Kind {
    char const* name;
    Change change;
};

// Tiles for more than all multiprocessors, and sums of several tiles of keys.
AttentionCase large_case() {
    AttentionCase c = base_case({4, 8, 4, 4, 1024, 1024, 128, 128}, DataType_t::BFLOAT16, 1);
    c.deterministic = true;
    return c;
}

std::vector<Kind> kinds() {
    return {
        {"128 columns", [](auto&) {}},
        {"64 columns", head_dims(64, 64)},
        {"192 and 128 columns", head_dims(192, 128)},
        {"256 columns", head_dims(256, 256)},
        {"causal", [](auto& c) { c.right = 0; }},
        {"causal, 64 columns", [](auto& c) { c.right = 0, head_dims(64, 64)(c); }},
        {"a window", [](auto& c) { c.left = 200, c.right = 0; }},
        {"the past left out", [](auto& c) { c.left = 100, c.right.reset(); }},
        {"one head of keys", [](auto& c) { c.h_k = c.h_v = 1; }},
        {"lengths", lengths},
        {"packed sequences", packed},
        {"dropout", dropout},
        {"documents", modified(oracle::Modify::Documents)},
        {"dBias", biased(true, true, true)},
        {"dBias summed over queries", biased(true, true, false)},
        {"dSink", sink},
    };
}

struct Run {
    error_t failure;
    Bits bits;
};

// The engine's forward makes what backward reads.
BackwardInputs inputs_of_backward(AttentionCase const& c, Inputs const& in, GpuStream const& gpu, error_t& failure) {
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    failure = build_by_own_engine(session.graph(), gpu, queue_of(c));
    if (failure.is_good()) failure = execute_graph_on_gpu(session.graph(), session, gpu, queue_of(c));
    return make_backward_inputs(c, oracle::Forward{to_array(out.o), to_array(out.stats)});
}

std::string bytes_of(BackwardOutputs const& out) {
    std::string bytes;
    for (HostTensor const& tensor : {out.d_q, out.d_k, out.d_v, out.d_bias, out.d_sink}) {
        if (tensor) bytes.append(reinterpret_cast<char const*>(tensor.memory->data()), tensor.memory->size());
    }
    return bytes;
}

Run run_often(AttentionCase const& c, GpuStream const& gpu, int runs) {
    Run result;
    Inputs const in = make_inputs(c);
    BackwardInputs const more = inputs_of_backward(c, in, gpu, result.failure);
    BackwardOutputs const out = make_backward_outputs(c);
    Session session(c, in, more, out);
    if (result.failure.is_good()) result.failure = build_by_own_engine(session.graph(), gpu, queue_of(c));
    if (result.failure.is_bad()) return result;
    DeviceMirror mirror;
    auto const pack = device_pack(session, mirror);
    for (int run = 0; run < runs && result.failure.is_good(); ++run) {
        result.failure = execute_in_mirror(session.graph(), pack, mirror, gpu, queue_of(c));
        result.bits.insert(bytes_of(out));
    }
    return result;
}

bool check(Kind const& kind, GpuStream const& gpu) {
    constexpr int kRuns = 20;
    AttentionCase c = large_case();
    kind.change(c);
    Run const run = run_often(c, gpu, kRuns);
    c.deterministic = false;
    Run const in_any_order = run_often(c, gpu, kRuns);
    std::printf("  %-28s %2zu different results in %d runs, %2zu without the option %s\n", kind.name, run.bits.size(),
                kRuns, in_any_order.bits.size(), run.failure.err_msg.c_str());
    return run.failure.is_good() && run.bits.size() == 1;
}

}  // namespace

bool check_deterministic_gradients() {
    GpuStream const gpu;
    ChangingLoad const load;
    int wrong = 0;
    for (Kind const& kind : kinds()) wrong += check(kind, gpu) ? 0 : 1;
    std::printf("deterministic gradients: %zu kinds, %d with other bits in other runs\n", kinds().size(), wrong);
    return wrong == 0;
}

}  // namespace sdpa_test
