// A kernel of the driver that keeps CUDA graphs: it runs on the host.
#pragma once

#include <cstddef>

struct FakeKernel {
    std::size_t const* sizes;  // bytes of each argument
    std::size_t count;
    void (*run)(void** arguments);
};
