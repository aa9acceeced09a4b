// Times on the GPU, by the events of its driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace sdpa {

// Measures work that is queued on the default stream of the current context. Throws Failure.
class Gpu_timer {
   public:
    // With bytes to flush, the L2 cache has other data before each measured call.
    explicit Gpu_timer(std::size_t flushed_bytes);
    Gpu_timer(Gpu_timer const&) = delete;
    Gpu_timer& operator=(Gpu_timer const&) = delete;
    ~Gpu_timer();

    // Milliseconds of one call. Before it the GPU is kept busy, so that it does not wait for the calling thread.
    double measure(std::function<void()> const& call);

   private:
    void* begin_ = nullptr;
    void* end_ = nullptr;
    std::uint64_t flushed_ = 0;
    std::size_t flushed_bytes_;
};

}  // namespace sdpa
