#include "timing/gpu_timer.h"

#include "data/gpu_memory.h"

namespace sdpa {
namespace {

struct Functions {
    int (*create)(void**, unsigned) = nullptr;
    int (*destroy)(void*) = nullptr;
    int (*record)(void*, void*) = nullptr;
    int (*wait)(void*) = nullptr;
    int (*elapsed)(float*, void*, void*) = nullptr;
    int (*allocate)(std::uint64_t*, std::size_t) = nullptr;
    int (*release)(std::uint64_t) = nullptr;
    int (*fill)(std::uint64_t, unsigned char, std::size_t, void*) = nullptr;
};

template <class Function>
void find(char const* name, Function& function) {
    function = reinterpret_cast<Function>(driver_function(name));
}

Functions const& functions() {
    static Functions const found = [] {
        Functions made;
        find("cuEventCreate", made.create);
        find("cuEventDestroy_v2", made.destroy);
        find("cuEventRecord", made.record);
        find("cuEventSynchronize", made.wait);
        find("cuEventElapsedTime", made.elapsed);
        find("cuMemAlloc_v2", made.allocate);
        find("cuMemFree_v2", made.release);
        find("cuMemsetD8Async", made.fill);
        return made;
    }();
    return found;
}

void require(int status) {
    if (status != 0) throw Failure("measuring on the GPU failed: CUDA error " + std::to_string(status));
}

}  // namespace

Gpu_timer::Gpu_timer(std::size_t flushed_bytes) : flushed_bytes_(flushed_bytes) {
    require(functions().create(&begin_, 0));
    require(functions().create(&end_, 0));
    if (flushed_bytes_ > 0) require(functions().allocate(&flushed_, flushed_bytes_));
}

Gpu_timer::~Gpu_timer() {
    if (begin_ != nullptr) functions().destroy(begin_);
    if (end_ != nullptr) functions().destroy(end_);
    if (flushed_ != 0) functions().release(flushed_);
}

double Gpu_timer::measure(std::function<void()> const& call) {
    if (flushed_bytes_ > 0) require(functions().fill(flushed_, 0, flushed_bytes_, nullptr));
    else call();
    require(functions().record(begin_, nullptr));
    call();
    require(functions().record(end_, nullptr));
    require(functions().wait(end_));
    float milliseconds = 0.0F;
    require(functions().elapsed(&milliseconds, begin_, end_));
    return static_cast<double>(milliseconds);
}

}  // namespace sdpa
