// Where the programs of this folder run their graphs: on the GPU if there is one. Otherwise the graphs are planned
// offline for an H200, and everything except the results is checked.
#pragma once

#include <cudnn_frontend.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace compat {

constexpr int kSkipped = 77;

class Machine {
   public:
    Machine() {
        int devices = 0;
        cudaError_t const status = cudaGetDeviceCount(&devices);
        has_driver_alone_ = status == cudaErrorNoDevice;
        has_gpu_ = status == cudaSuccess && devices > 0;
        if (!has_gpu_) return;
        if (cudnn_frontend::detail::create_handle(&handle_) != CUDNN_STATUS_SUCCESS) has_gpu_ = false;
    }
    ~Machine() {
        if (handle_ != nullptr) static_cast<void>(cudnn_frontend::detail::destroy_handle(handle_));
    }
    Machine(Machine const&) = delete;
    Machine& operator=(Machine const&) = delete;

    bool has_gpu() const { return has_gpu_; }
    bool has_driver_alone() const { return has_driver_alone_; }  // now loaded, so offline planning is refused
    cudnnHandle_t handle() const { return handle_; }             // null without a GPU

    // The only line of the programs that a machine with a GPU would not need.
    void prepare(cudnn_frontend::graph::Graph& graph) const {
        if (has_gpu_) return;
        auto device = cudnn_frontend::DeviceProperties::named("h200");
        graph.set_device_properties(std::make_shared<cudnn_frontend::DeviceProperties>(std::move(device)));
    }

   private:
    bool has_gpu_ = false, has_driver_alone_ = false;
    cudnnHandle_t handle_ = nullptr;
};

inline int failures = 0;

inline void expect(bool condition, char const* what, int line) {
    if (condition) return;
    std::fprintf(stderr, "line %d: not so: %s\n", line, what);
    ++failures;
}
#define EXPECT(...) compat::expect((__VA_ARGS__), #__VA_ARGS__, __LINE__)

// Runs the program's checks if there is a cuDNN.
inline int main_of(void (*checks)(Machine const&)) {
    Machine const machine;
    if (!machine.has_gpu() && std::getenv("SDPA_TEST_NEEDS_GPU") != nullptr) {
        std::puts("skipped: there is no GPU here, and SDPA_TEST_NEEDS_GPU is set");
        return kSkipped;
    }
    if (machine.has_driver_alone() || cudnn_frontend::detail::get_backend_version() == 0) {
        std::puts(machine.has_driver_alone() ? "skipped: a driver without a GPU" : "skipped: no cuDNN");
        return kSkipped;
    }
    checks(machine);
    std::printf("%s, %d failures\n", machine.has_gpu() ? "run on the GPU" : "planned for an H200", failures);
    return failures == 0 ? 0 : 1;
}

// GPU memory that mirrors a host array; no memory without a GPU.
template <class E>
class Mirror {
   public:
    Mirror(Machine const& machine, std::vector<E> const& host) : size_(host.size()) {
        if (!machine.has_gpu()) return;
        EXPECT(cudaMalloc(&memory_, size_ * sizeof(E)) == cudaSuccess);
        EXPECT(cudaMemcpy(memory_, host.data(), size_ * sizeof(E), cudaMemcpyHostToDevice) == cudaSuccess);
    }
    ~Mirror() { cudaFree(memory_); }
    Mirror(Mirror const&) = delete;
    Mirror& operator=(Mirror const&) = delete;

    E* data() const { return static_cast<E*>(memory_); }
    std::vector<E> read() const {
        std::vector<E> host(size_);
        EXPECT(cudaMemcpy(host.data(), memory_, size_ * sizeof(E), cudaMemcpyDeviceToHost) == cudaSuccess);
        return host;
    }

   private:
    void* memory_ = nullptr;
    std::size_t size_;
};

inline Mirror<char> workspace_of(Machine const& machine, std::int64_t bytes) {
    return {machine, std::vector<char>(static_cast<std::size_t>(bytes) + 1)};
}

}  // namespace compat
