// How many bytes of graphs and plans the process keeps during a test.
#pragma once

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>

#include <cstddef>

namespace sdpa_test {

// The budget of a process that sets none.
constexpr std::size_t kUsualBytes = std::size_t{256} << 20;

// Sets how many bytes are kept, for one test; nothing is kept at first.
struct Kept {
    explicit Kept(std::size_t bytes) {
        cudnn_frontend::runtime::forget_graphs();
        cudnn_frontend::runtime::set_kept_bytes(bytes);
    }
    Kept(Kept const&) = delete;
    Kept& operator=(Kept const&) = delete;
    ~Kept() {
        cudnn_frontend::runtime::forget_graphs();
        cudnn_frontend::runtime::set_kept_bytes(kUsualBytes);
    }
};

}  // namespace sdpa_test
