// The time that one call of the flash-attention functions takes on the CPU, once its class is known.
//   bench_cudnn_flash_calls [cpu]     on a GPU, or on the CPU target, whose time includes computing one query with one
//   key
#include <sdpa_graph/flash.h>

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

namespace flash = sdpa_graph::flash;
namespace fe = cudnn_frontend;
using sdpa_graph::Tensor_view;

constexpr int kRounds = 200, kCallsOfRound = 20;  // after which the GPU's queue is emptied
constexpr float kScale = 0.125f;

bool good(fe::error_t const& error) {
    if (error.is_bad()) std::fprintf(stderr, "%s\n", error.get_message().c_str());
    return error.is_good();
}

// Memory that is handed out and never freed but all at once, as that of a pool in a training loop.
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

// Microseconds, in the median.
template <class Run>
double time_calls(Run const& run) {
    using clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int i = 0; i < kRounds * kCallsOfRound; ++i) {
        auto const begin = clock::now();
        if (!good(run())) return -1;
        times.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
        if (i % kCallsOfRound == 0) cudaDeviceSynchronize();
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

bool report(char const* name, double microseconds) {
    std::printf("%-32s %6.2f us\n", name, microseconds);
    return microseconds >= 0;
}

bool time_padded(Memory& memory, std::int64_t tokens) {
    auto const rows = [&] { return memory.make({1, tokens, 4, 64}, fe::DataType_t::HALF); };
    Tensor_view const q = rows(), k = rows(), v = rows(), dout = rows();
    flash::Place const place = memory.place();
    flash::Forward_results forward;
    forward.out = rows();
    forward.softmax_lse = memory.make({1, 4, tokens}, fe::DataType_t::FLOAT);
    flash::Backward_results backward;
    backward.dq = rows(), backward.dk = rows(), backward.dv = rows();
    auto const run_forward = [&] {
        return flash::mha_fwd(q, k, v, {}, {}, 0.0f, kScale, true, -1, -1, 0.0f, false, {}, place, forward);
    };
    auto const run_backward = [&] {
        return flash::mha_bwd(dout, q, k, v, forward.out, forward.softmax_lse, {}, {}, {}, {}, 0.0f, kScale, true, -1,
                              -1, 0.0f, false, {}, {}, place, backward);
    };
    return report("mha_fwd", time_calls(run_forward)) && report("mha_bwd", time_calls(run_backward));
}

bool time_packed(Memory& memory, std::int64_t tokens) {
    auto const rows = [&] { return memory.make({tokens, 4, 64}, fe::DataType_t::HALF); };
    Tensor_view const q = rows(), k = rows(), v = rows();
    Tensor_view const totals = memory.make({2}, fe::DataType_t::INT32);  // of no rows: a GPU has little to do
    flash::Place const place = memory.place();
    flash::Forward_results forward;
    forward.out = rows();
    forward.softmax_lse = memory.make({4, tokens}, fe::DataType_t::FLOAT);
    auto const most = static_cast<int>(tokens);
    auto const run = [&] {
        return flash::mha_varlen_fwd(q, k, v, {}, totals, totals, {}, {}, {}, most, most, 0.0f, kScale, false, true, -1,
                                     -1, 0.0f, false, {}, place, forward);
    };
    return report("mha_varlen_fwd", time_calls(run));
}

}  // namespace

int main(int count, char** arguments) {
    bool const is_on_gpu = count < 2 || std::string(arguments[1]) != "cpu";
    std::int64_t const tokens = is_on_gpu ? 128 : 1;
    Memory memory(is_on_gpu);
    if (!memory.is_there()) return 1;
    return time_padded(memory, tokens) && time_packed(memory, tokens) ? 0 : 1;
}
