// The time that one call of the flash-attention functions takes on the CPU, once its class is known; on a GPU also the
// time of the parts that are not the library's: cuDNN's execution of the call's engine, or the replay in its place; the
// engine's execution alone, on a ready pack; and the launches of the library's own kernels.
//   bench_cudnn_flash_calls [cpu]     on a GPU, or on the CPU target, whose time includes computing one query with one
//   key
#include <sdpa_graph/flash.h>

#include "meter.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace flash = sdpa_graph::flash;
namespace fe = cudnn_frontend;
using sdpa_graph::Tensor_view;

constexpr int kRounds = 200, kCallsOfRound = 20;  // the GPU's queue is emptied after each round
constexpr float kScale = 0.125f;

bool good(fe::error_t const& error) {
    if (error.is_bad()) std::fprintf(stderr, "%s\n", error.get_message().c_str());
    return error.is_good();
}

// Memory that is handed out piece by piece and freed all at once, as that of a pool in a training loop.
class Memory {
   public:
    explicit Memory(bool is_on_gpu) : is_on_gpu_(is_on_gpu) {
        if (is_on_gpu) cudaMalloc(&start_, kBytes);
        else start_ = std::calloc(1, kBytes);
        if (is_on_gpu && start_ != nullptr) cudaMemset(start_, 0, kBytes);
    }
    bool is_there() const { return start_ != nullptr; }
    Tensor_view make(std::vector<std::int64_t> const& dim, fe::DataType_t type) {
        Tensor_view view;
        view.dim = dim;
        view.stride = sdpa_graph::row_major(dim);
        view.type = type;
        view.device = is_on_gpu_ ? sdpa_graph::Device_kind::CUDA : sdpa_graph::Device_kind::CPU;
        view.data = take(static_cast<std::size_t>(sdpa_graph::span_of(dim, view.stride)) * 4);
        return view;
    }
    bool is_on_gpu() const { return is_on_gpu_; }
    flash::Place place() {
        flash::Place place;
        if (!is_on_gpu_) place.target = fe::Target::cpu(1);
        place.allocator.context = this;
        place.allocator.allocate = [](void* context, char const*, Tensor_view const& wanted) {
            auto& memory = *static_cast<Memory*>(context);
            std::size_t const used = memory.used_;
            void* const scratch =
                memory.take(static_cast<std::size_t>(sdpa_graph::span_of(wanted.dim, wanted.stride)) * 4);
            memory.used_ = used;  // each call has its scratch in the same place
            return scratch;
        };
        return place;
    }

   private:
    static constexpr std::size_t kBytes = std::size_t{64} << 20;

    void* take(std::size_t bytes) {
        void* const part = static_cast<char*>(start_) + used_;
        used_ += (bytes + 255) / 256 * 256;
        return used_ <= kBytes ? part : nullptr;
    }

    bool is_on_gpu_;
    void* start_ = nullptr;
    std::size_t used_ = 0;
};

// Microseconds, one for each call.
struct Times {
    std::vector<double> whole, engine, launches;  // engine and launches are parts of the whole
    std::vector<double> alone;                    // the engine on its own
};

double median(std::vector<double> values) {
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <class Run>
bool time_once(Run const& run, std::vector<double>& times) {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    bool const is_good = run();
    times.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
    return is_good;
}

// Calls, and the engine alone, take turns: the machine may be slow for a while.
template <class Run>
bool time_calls(Run const& run, Meter* meter, Times& times) {
    for (int i = 0; i < kRounds * kCallsOfRound; ++i) {
        if (meter != nullptr) meter->clear();
        if (!time_once(run, times.whole)) return false;
        if (meter == nullptr) continue;
        times.engine.push_back(meter->engine_microseconds());
        times.launches.push_back(meter->launch_microseconds());
        if (i % kCallsOfRound != 0) continue;
        cudaDeviceSynchronize();
        for (int n = 0; n < kCallsOfRound && meter->has_engine(); ++n)
            if (!time_once([&] { return meter->execute_again(); }, times.alone)) return false;
        cudaDeviceSynchronize();
    }
    return true;
}

// On a GPU the plan of a shape that comes often is made in the background.
template <class Call>
bool settle(Call const& call, flash::Place const& place) {
    constexpr int kOften = 20;
    for (int i = 0; i < kOften; ++i)
        if (!good(call(place))) return false;
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return good(call(place));
}

// The work that a call gives the GPU: kernels, and memory that is set.
template <class Call>
std::size_t steps_of(Call const& call, flash::Place place) {
    cudaStreamCreateWithFlags(&place.stream, cudaStreamNonBlocking);
    cudaGraph_t graph = nullptr;
    std::size_t count = 0;
    bool is_good = good(call(place)) && cudaStreamSynchronize(place.stream) == cudaSuccess;
    is_good = is_good && cudaStreamBeginCapture(place.stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
    is_good = is_good && good(call(place));
    is_good = cudaStreamEndCapture(place.stream, &graph) == cudaSuccess && is_good;
    if (is_good) cudaGraphGetNodes(graph, nullptr, &count);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return count;
}

template <class Call>
bool report(std::string const& name, Memory& memory, Call const& call) {
    flash::Place const place = memory.place();
    Meter* const meter = memory.is_on_gpu() ? &Meter::installed() : nullptr;
    Times times;
    if (meter != nullptr) meter->forget_engine();
    if (meter != nullptr && !settle(call, place)) return false;
    if (!time_calls([&] { return good(call(place)); }, meter, times)) return false;
    double const whole = median(times.whole);
    std::printf("%-32s %6.2f us", name.c_str(), whole);
    if (meter != nullptr) {
        double const engine = median(times.engine), launches = median(times.launches);
        std::string const alone = times.alone.empty() ? "unknown" : std::to_string(median(times.alone));
        std::printf(
            "; cuDNN's engine or its replay %6.2f, the engine alone %s; %d launches on rows %5.2f; the rest %5.2f",
            engine, alone.c_str(), meter->launches(), launches, whole - engine - launches);
        std::printf("; %zu steps on the GPU", steps_of(call, place));
    }
    std::printf("\n");
    return true;
}

bool time_padded(Memory& memory, std::int64_t tokens) {
    auto const rows = [&] { return memory.make({1, tokens, 4, 64}, fe::DataType_t::HALF); };
    Tensor_view const q = rows(), k = rows(), v = rows(), dout = rows();
    flash::Forward_results forward;
    forward.out = rows();
    forward.softmax_lse = memory.make({1, 4, tokens}, fe::DataType_t::FLOAT);
    flash::Backward_results backward;
    backward.dq = rows(), backward.dk = rows(), backward.dv = rows();
    auto const run_forward = [&](flash::Place const& place) {
        return flash::mha_fwd(q, k, v, {}, {}, 0.0f, kScale, true, -1, -1, 0.0f, false, {}, place, forward);
    };
    auto const run_backward = [&](flash::Place const& place) {
        return flash::mha_bwd(dout, q, k, v, forward.out, forward.softmax_lse, {}, {}, {}, {}, 0.0f, kScale, true, -1,
                              -1, 0.0f, false, {}, {}, place, backward);
    };
    return report("mha_fwd", memory, run_forward) && report("mha_bwd", memory, run_backward);
}

struct Packing {
    char const* name;
    bool shares_totals, has_log_sums_by_row;
};

// Totals are zeros: a GPU has little to do.
bool time_packed(Memory& memory, std::int64_t tokens, Packing const& packing) {
    auto const rows = [&] { return memory.make({tokens, 4, 64}, fe::DataType_t::HALF); };
    auto const totals = [&] { return memory.make({2}, fe::DataType_t::INT32); };
    Tensor_view const q = rows(), k = rows(), v = rows(), dout = rows();
    Tensor_view const of_q = totals(), of_k = packing.shares_totals ? of_q : totals();
    flash::Forward_results forward;
    forward.out = rows();
    forward.softmax_lse = memory.make({4, tokens}, fe::DataType_t::FLOAT);
    if (packing.has_log_sums_by_row) forward.softmax_lse.stride = {1, 4};
    flash::Backward_results backward;
    backward.dq = rows(), backward.dk = rows(), backward.dv = rows();
    auto const most = static_cast<int>(tokens);
    auto const run_forward = [&](flash::Place const& place) {
        return flash::mha_varlen_fwd(q, k, v, {}, of_q, of_k, {}, {}, {}, most, most, 0.0f, kScale, false, true, -1, -1,
                                     0.0f, false, {}, place, forward);
    };
    auto const run_backward = [&](flash::Place const& place) {
        return flash::mha_varlen_bwd(dout, q, k, v, forward.out, forward.softmax_lse, {}, {}, {}, of_q, of_k, {}, most,
                                     most, 0.0f, kScale, false, true, -1, -1, 0.0f, false, {}, {}, place, backward);
    };
    return report(std::string("mha_varlen_fwd") + packing.name, memory, run_forward) &&
           report(std::string("mha_varlen_bwd") + packing.name, memory, run_backward);
}

bool time_decoding(Memory& memory) {
    constexpr std::int64_t kRows = 256;
    Tensor_view const q = memory.make({1, 4, 64}, fe::DataType_t::HALF);
    auto const pages = [&] { return memory.make({1, kRows, 4, 64}, fe::DataType_t::HALF); };
    Tensor_view const k = pages(), v = pages(), totals = memory.make({2}, fe::DataType_t::INT32),
                      table = memory.make({1, 1}, fe::DataType_t::INT32);
    flash::Forward_results results;
    results.out = memory.make({1, 4, 64}, fe::DataType_t::HALF);
    results.softmax_lse = memory.make({4, 1}, fe::DataType_t::FLOAT);
    auto const run = [&](flash::Place const& place) {
        return flash::mha_varlen_fwd(q, k, v, {}, totals, totals, {}, table, {}, 1, kRows, 0.0f, kScale, false, true,
                                     -1, -1, 0.0f, false, {}, place, results);
    };
    return report("decoding over pages", memory, run);
}

}  // namespace

int main(int count, char** arguments) {
    bool const is_on_gpu = count < 2 || std::string(arguments[1]) != "cpu";
    std::int64_t const tokens = is_on_gpu ? 128 : 1;
    Memory memory(is_on_gpu);
    if (!memory.is_there()) return 1;
    constexpr Packing kPackings[] = {
        {"", false, false}, {", shared totals", true, false}, {", and sums by row", true, true}};
    bool is_good = time_padded(memory, tokens);
    for (Packing const& packing : kPackings) is_good = is_good && time_packed(memory, tokens, packing);
    return is_good && time_decoding(memory) ? 0 : 1;
}
